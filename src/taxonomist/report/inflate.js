// Text from base64 and raw DEFLATE (RFC 1951), without waiting, as browsers have only in steps.
function unpacked(packed) {
  "use strict";
  const input = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  let at = 0, held = 0, n = 0, size = 0, out = new Uint8Array(4 * input.length + 1024);

  function bits(count) {
    while (n < count) { held |= input[at++] << n; n += 8; }
    const value = held & ((1 << count) - 1);
    held >>>= count; n -= count;
    return value;
  }

  function put(byte) {
    if (size === out.length) { const more = new Uint8Array(2 * size); more.set(out); out = more; }
    out[size++] = byte;
  }

  // Codes of one length are consecutive numbers, in the order of their symbols.
  function table(lengths) {
    const counts = new Array(16).fill(0), offsets = [0, 0], symbols = [];
    lengths.forEach((length) => { counts[length]++; });
    counts[0] = 0;
    for (let i = 1; i < 15; i++) offsets[i + 1] = offsets[i] + counts[i];
    lengths.forEach((length, symbol) => { if (length) symbols[offsets[length]++] = symbol; });
    return { counts, symbols };
  }

  function symbol({ counts, symbols }) {
    let code = 0, first = 0, index = 0;
    for (let length = 1; length < 16; length++) {
      code |= bits(1);
      if (code - counts[length] < first) return symbols[index + code - first];
      index += counts[length];
      first = (first + counts[length]) << 1;
      code <<= 1;
    }
    throw new Error("The data of this page is damaged.");
  }

  function dynamic() {
    const n_literals = bits(5) + 257, n_distances = bits(5) + 1, n_lengths = bits(4) + 4;
    const order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
    const short = new Array(19).fill(0);
    for (let i = 0; i < n_lengths; i++) short[order[i]] = bits(3);
    const codes = table(short), lengths = [];
    while (lengths.length < n_literals + n_distances) {
      const found = symbol(codes);
      const last = lengths[lengths.length - 1];
      if (found < 16) lengths.push(found);
      else if (found === 16) for (let k = 3 + bits(2); k; k--) lengths.push(last);
      else for (let k = found === 17 ? 3 + bits(3) : 11 + bits(7); k; k--) lengths.push(0);
    }
    return [table(lengths.slice(0, n_literals)), table(lengths.slice(n_literals))];
  }

  function fixed() {
    const lengths = Array.from({ length: 288 }, (_, i) => (i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8));
    return [table(lengths), table(new Array(30).fill(5))];
  }

  function copy([literals, distances]) {
    for (;;) {
      let found = symbol(literals);
      if (found < 256) { put(found); continue; }
      if (found === 256) return;
      found -= 257;
      const more = found < 8 || found === 28 ? 0 : (found >> 2) - 1;
      let length = found < 8 ? found + 3 : found === 28 ? 258 : ((4 + (found & 3)) << more) + 3;
      length += bits(more);
      const far = symbol(distances), extra = far < 4 ? 0 : (far >> 1) - 1;
      const back = (far < 4 ? far + 1 : ((2 + (far & 1)) << extra) + 1) + bits(extra);
      for (; length; length--) put(out[size - back]);
    }
  }

  for (let isLast = 0; !isLast;) {
    isLast = bits(1);
    const kind = bits(2);
    if (kind === 0) {
      held = n = 0;
      const length = input[at] | input[at + 1] << 8;
      at += 4;
      for (let k = 0; k < length; k++) put(input[at++]);
    } else copy(kind === 1 ? fixed() : dynamic());
  }
  return new TextDecoder().decode(out.subarray(0, size));
}
