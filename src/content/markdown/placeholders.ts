/**
 * Content that Markdown cannot represent appears as a placeholder with the id of the stored node: a block as
 * an empty fence, an atom in a line as an image. The content of a placeholder has no meaning.
 */

/** Matches the info text of the fence of a block, with its id and its name. */
export const placeholderInfo = /^weft-block ([0-9]+-[0-9]+)(?: (.*))?$/

/** Returns the info text of the fence of a block. */
export const infoOf = (id: string, name: string): string =>
  name === '' ? `weft-block ${id}` : `weft-block ${id} ${name}`

/** Start of the address of the image of an atom. The id follows. */
export const atomScheme = 'weft-inline:'

/** For each id, the line of its first placeholder, from 1. */
export type PlaceholderLines = ReadonlyMap<string, number>
