/**
 * Content that blocks cannot represent appears as an element with the id of the stored node: a block as
 * `<div data-weft-block="id">`, an atom in a line as `<span data-weft-inline="id">`. Its content has no
 * meaning.
 */

export const blockAttribute = 'data-weft-block'

/** Attribute of the placeholder of an atom in a line. */
export const atomAttribute = 'data-weft-inline'

/** Attribute of a line break that is the whole content of its line. Without it, such a line is empty. */
export const breakAttribute = 'data-weft-break'
