/** User that the console acts as. Other users see this name. */
export const consoleUser = { id: 'console', name: 'Console' } as const

export interface EditorAddress {
  readonly organizationId: string
  readonly documentId: string
  readonly editorId: string
}

/** Properties of a view of an editor. */
export interface EditorViewProps {
  readonly address: EditorAddress
  /** Names of the roots. */
  readonly roots: readonly string[]
}
