# The service in an image: docker build -t taxonomist . && docker run -p 8000:8000 -v data:/data taxonomist
FROM python:3.12-slim AS build
RUN python -m venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH PIP_NO_CACHE_DIR=1
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN pip install ".[server,postgresql,skos]"
# Loops are compiled once, for any processor of this kind, and kept in the image.
ENV NUMBA_CPU_NAME=generic NUMBA_CACHE_DIR=/opt/numba
RUN taxonomist warm
# A training on real texts needs some loops in other forms.
RUN python -m taxonomist.server.demo_model /tmp/demo

FROM python:3.12-slim
COPY --from=build /opt/venv /opt/venv
COPY --from=build /opt/numba /opt/numba
ENV PATH=/opt/venv/bin:$PATH \
    NUMBA_CPU_NAME=generic \
    NUMBA_CACHE_DIR=/opt/numba \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
RUN useradd --system --uid 10001 --no-create-home taxonomist \
    && install -d -o taxonomist -g taxonomist /data
USER 10001
VOLUME /data
WORKDIR /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD \
    ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
ENTRYPOINT ["taxonomist"]
# Others reach the container, so it needs a token: taxonomist token add NAME --folder /data.
CMD ["serve", "--host", "0.0.0.0", "--folder", "/data"]
