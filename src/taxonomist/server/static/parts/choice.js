// What a document would be filed under: one category, or a set of them.

/**
 * Return where a node is.
 * @param {TreeNode} node
 * @returns {Place}
 */
export const placeOf = (node) => ({
  label: node.id, name: node.name, path: node.path, path_names: node.names,
});

export class Choice {
  /** @param {boolean} isMultilabel */
  constructor(isMultilabel) {
    this._isMultilabel = isMultilabel;
    /** @type {Place[]} */
    this.places = [];
    /** Whether the document says too little for any category. */
    this.isTooVague = false;
  }

  get labels() {
    return this.places.map((place) => place.label);
  }

  /** @param {Place[]} places */
  set(places) {
    this.places = this._isMultilabel ? places : places.slice(0, 1);
    this.isTooVague = false;
  }

  /**
   * Choose a category; in a set, add it or take it out.
   * @param {Place} place
   */
  toggle(place) {
    const has = this.labels.includes(place.label);
    const others = this.places.filter((each) => each.label !== place.label);
    this.set(this._isMultilabel ? (has ? others : [...others, place]) : [place]);
  }

  setTooVague() {
    this.places = [];
    this.isTooVague = true;
  }

  /**
   * Return the decision that the choice is, given what was offered.
   * @param {string[]} offered
   * @returns {{action: string, labels: string[]} | null} null if nothing is chosen
   */
  decision(offered) {
    if (this.isTooVague) return { action: "too_vague", labels: [] };
    const labels = this.labels;
    const isSame = labels.length === offered.length && labels.every((label) => offered.includes(label));
    if (isSame && (labels.length || this._isMultilabel)) return { action: "accept", labels: [] };
    return labels.length || this._isMultilabel ? { action: "correct", labels } : null;
  }
}
