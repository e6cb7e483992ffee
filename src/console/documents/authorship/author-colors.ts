/** Hues of authors, in degrees. Text on them is readable in both color schemes. */
const hues = [210, 30, 130, 320, 55, 265, 175, 0] as const
/** Lines of authors. Authors with the same hue have different lines. */
const lines = ['solid', 'dotted', 'dashed', 'double'] as const

/** Id of an author; null if the author is unknown. */
export type AuthorId = string | null

/** The style of an element of the class `author`. An author without a hue has no color. */
export type AuthorStyle = Readonly<Record<string, string>>

/**
 * Returns the styles of authors, in the order of the list. Unknown authors have no color. After 32 authors,
 * the styles repeat.
 */
export function authorStyles(authors: Iterable<AuthorId>): ReadonlyMap<AuthorId, AuthorStyle> {
  const styles = new Map<AuthorId, AuthorStyle>()
  let known = 0
  for (const author of authors) {
    if (styles.has(author)) continue
    if (author === null) styles.set(author, {})
    else {
      const line = lines[Math.floor(known / hues.length) % lines.length]
      styles.set(author, { '--hue': String(hues[known % hues.length]), borderBottomStyle: line ?? 'solid' })
      known += 1
    }
  }
  return styles
}

export const authorName = (author: AuthorId): string => author ?? 'unknown author'
