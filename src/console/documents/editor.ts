/** User that the console acts as. Other users see this name. */
export const consoleUser = { id: 'console', name: 'Console' } as const

export interface EditorAddress {
  readonly organizationId: string
  readonly documentId: string
  readonly editorId: string
}

/** Properties of an editor, without its content. */
export interface EditorInfo {
  readonly id: string
  readonly version: string
  readonly lastUpdate: string
  /** Id of the user of the last edit; '' if the user is not known. */
  readonly lastUpdatedBy: string
  readonly sizeBytes: number
  /** Name of the attached schema; absent if there is none. */
  readonly schema?: string
  readonly statistics: { readonly structs: number; readonly tombstones: number; readonly clients: number }
}

/** Properties of a view of an editor. */
export interface EditorViewProps {
  readonly address: EditorAddress
  /** Names of the roots. */
  readonly roots: readonly string[]
}
