/**
 * Limits of one document. They apply to updates from websockets and to content from REST. If a limit is
 * exceeded, REST returns INVALID_ARGUMENT, and a websocket that sent the update is closed. The limits of
 * sizes in bytes are in `config.ts`.
 */
export const limits = {
  /** Maximum nesting of plain JSON values, embeds and formatting values. */
  jsonDepth: 64,
  /**
   * Maximum nesting of shared types, including the root. Because of the root, XML elements can be nested one
   * level less.
   */
  typeDepth: 200,
  /** Maximum number of nodes (elements, texts, values) in one piece of content. */
  nodes: 200_000,
  /** Maximum number of attributes of one XML element. */
  attributes: 256,
} as const
