/**
 * Content that Markdown cannot represent appears as a placeholder with the id of the stored node: a block as
 * an empty fence, an atom in a line as an image. The content of a placeholder has no meaning.
 */

/** First word of the info text of the fence of a block. The id and the name follow. */
export const blockFence = 'weft-block'

/**
 * Matches the info text of the fence of a block, with its id and its name. The id can be any word, so that a
 * placeholder with a changed id is rejected and does not become code. The writer escapes the space in the
 * language of other code. Therefore, the info text must be as in the Markdown, without resolved escapes.
 */
export const placeholderInfo = /^weft-block[ \t]+(\S+)(?:[ \t](.*))?$/

/** Start of the address of the image of an atom. The id follows. */
export const atomScheme = 'weft-inline:'
