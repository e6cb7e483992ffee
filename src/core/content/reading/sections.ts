export interface MarkdownHeading {
  readonly level: number
  readonly title: string
  /** Position of the heading in the text, in UTF-16 units. */
  readonly at: number
}

/** A part of a text, from `start` to `end`. */
export interface MarkdownPart {
  readonly start: number
  readonly end: number
}

const headingLine = /^ {0,3}(#{1,6})(?:[ \t](.*))?$/
const fenceLine = /^ {0,3}(`{3,}|~{3,})/

/** Finds the headings of a Markdown text that begin with `#`, except in fenced code. Takes linear time. */
export function findHeadings(text: string): readonly MarkdownHeading[] {
  const found: MarkdownHeading[] = []
  let fence: string | null = null
  for (let at = 0; at < text.length; ) {
    const lineEnd = text.indexOf('\n', at)
    const end = lineEnd === -1 ? text.length : lineEnd
    // A longer line is not a heading that a table could show.
    const line = text.slice(at, Math.min(end, at + 2_000))
    const [, mark = null] = fenceLine.exec(line) ?? []
    if (fence !== null) {
      if (mark?.startsWith(fence) && line.trim() === mark) fence = null
    } else if (mark !== null) fence = mark
    else {
      const [, signs, title = ''] = headingLine.exec(line) ?? []
      if (signs !== undefined) found.push({ level: signs.length, title: plainTitle(title), at })
    }
    at = end + 1
  }
  return found
}

/** Returns the text of a heading as a reader sees it: without closing signs, emphasis and escapes. */
const plainTitle = (title: string): string =>
  title
    .trim()
    .replace(/[ \t]#{1,}$/, '')
    .replaceAll(/\\([!-/:-@[-`{-~])|[*_`]/g, (_, escaped: string | undefined) => escaped ?? '')
    .trim()

/** Returns the section of a heading: up to the next heading of the same or a higher level. */
export function sectionOf(
  text: string,
  headings: readonly MarkdownHeading[],
  heading: MarkdownHeading,
): MarkdownPart {
  const next = headings.find(({ at, level }) => at > heading.at && level <= heading.level)
  return { start: heading.at, end: next?.at ?? text.length }
}

/** Returns the first part of a range that has at most `max` UTF-16 units, and ends at a line break if it can. */
export function firstPage(text: string, { start, end }: MarkdownPart, max: number): MarkdownPart {
  if (end - start <= max) return { start, end }
  const cut = start + max
  const lineBreak = text.lastIndexOf('\n', cut - 1)
  // A page that ends at a line break must have at least half of the size.
  if (lineBreak >= start + max / 2) return { start, end: lineBreak + 1 }
  return { start, end: isInsidePair(text, cut) ? cut - 1 : cut }
}

const isInsidePair = (text: string, at: number): boolean => /^[\uDC00-\uDFFF]$/.test(text[at] ?? '')
