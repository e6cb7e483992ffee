/** A place in the documentation that the search finds. */
export interface SearchEntry {
  /** Path of the page, with the anchor of the section. */
  readonly path: string
  /** Title of the page. */
  readonly page: string
  /** Heading of the section, or name of the option, metric, limit or error; empty for the start of a page. */
  readonly section: string
  /** Path of the operation that the section describes, or method and path of another request. */
  readonly operation?: string
  /** The text of the place, without markup. */
  readonly text: string
}
