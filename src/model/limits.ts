/**
 * Limits of one document. They apply to updates from sockets and to content from REST. A violation is
 * INVALID_ARGUMENT in REST, and closes the socket that sent it. Sizes in bytes are in `config.ts`.
 */
export const limits = {
  /** Nesting of plain JSON values, embeds and formatting values. */
  jsonDepth: 64,
  /** Nesting of shared types, including the root (so XML is at most one less deep). */
  typeDepth: 200,
  /** Nodes (elements, texts, values) in one piece of content. */
  nodes: 200_000,
  /** Attributes of one XML element. */
  attributes: 256,
} as const
