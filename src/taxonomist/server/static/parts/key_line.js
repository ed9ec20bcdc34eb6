// Keys wait for the answer that they act on, and keep their order.

export class KeyLine {
  constructor() {
    /** @type {(() => void)[]} */
    this._acts = [];
    this._answers = 0;
    this._turn = 0;
  }

  /**
   * Let keys wait for an answer. If it does not come, they are dropped: they would act on something else.
   * @param {Promise<unknown>} answer
   */
  async during(answer) {
    const turn = this._turn;
    this._answers += 1;
    try {
      await answer;
    } catch (error) {
      if (turn === this._turn) this._acts = [];
      throw error;
    } finally {
      if (turn === this._turn) this._answers -= 1;
    }
    if (turn === this._turn) this._go();
  }

  /**
   * Act now, or after what waits.
   * @param {() => void} act
   */
  run(act) {
    this._acts.push(act);
    this._go();
  }

  /** Wait for nothing, and drop what waits. */
  clear() {
    this._turn += 1;
    this._answers = 0;
    this._acts = [];
  }

  _go() {
    while (!this._answers) {
      const act = this._acts.shift();
      if (!act) return;
      act();
    }
  }
}
