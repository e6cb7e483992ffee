/** Limits of the MCP server. Each has a fixed value, because no deployment needs another one. */
export const mcpLimits = {
  /** Calls of tools of one agent at the same time, on one node. */
  callsAtOnce: 8,
  /** Milliseconds after which a tool call ends with an error. */
  callMs: 60_000,
  /** UTF-16 units of an editor that a tool reads. */
  documentCharacters: 8_000_000,
  /** UTF-16 units of the text in the response of one tool call: the default and the maximum. */
  pageCharacters: { usual: 20_000, max: 100_000 },
  /** Headings in the table of `read_document`, and the UTF-16 units of one of them. */
  headings: 200,
  headingCharacters: 200,
  /** Documents that one call of `search` reads, and the UTF-16 units of their content. */
  searchedDocuments: 20,
  searchedCharacters: 4_000_000,
  /** Places that `search` returns for each editor. */
  matchesPerEditor: 5,
  /** UTF-16 units of text before and after a place. */
  contextCharacters: 80,
  /** Edits of one call. */
  edits: 50,
  /** UTF-16 units of each deleted or inserted text in a list of changes. */
  changeCharacters: 500,
  /** Changes in a list of one change set or branch. */
  hunks: 50,
} as const

/** Path of the MCP server. */
export const mcpPath = '/mcp'
