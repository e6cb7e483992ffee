/**
 * What one document may hold. Applied to updates from sockets and to content from REST alike; a breach is
 * INVALID_ARGUMENT in REST and closes the one socket that sent it. Sizes in bytes live in `config.ts`.
 */
export const limits = {
  /** Nesting of plain JSON values, embeds and formatting values. */
  jsonDepth: 64,
  /** Nesting of shared types, the root counted (so XML is at most one less deep). */
  typeDepth: 200,
  /** Nodes (elements, texts, values) in one piece of content. */
  nodes: 200_000,
  /** Attributes of one XML element. */
  attributes: 256,
} as const
