/**
 * Limits for the content of one document. They apply to updates from websockets and to content from REST. If
 * content exceeds a limit, REST returns INVALID_ARGUMENT. If an update from a websocket exceeds a limit, the
 * websocket is closed. The limits for sizes in bytes are in `config.ts`.
 */
export const limits = {
  /** Maximum nesting of plain JSON values, embeds and formatting values. */
  jsonDepth: 64,
  /**
   * Maximum nesting of shared types, including the root. XML elements can therefore be nested one level less.
   */
  typeDepth: 200,
  /** Maximum number of nodes (elements, texts, values) in one piece of content. */
  nodes: 200_000,
  /** Maximum number of attributes of one XML element. */
  attributes: 256,
  /** Maximum length of a text in Markdown, in UTF-16 units. */
  markdownCharacters: 8_388_608,
  /** Maximum nesting of lists and block quotes in Markdown, which is that of HTML. An item of a list counts as two levels. */
  markdownDepth: 200,
} as const
