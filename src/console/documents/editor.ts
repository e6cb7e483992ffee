import type { SavedVersion } from '../../client/api/operation-types.ts'
import { formatTime } from '../ui/format.ts'

/** Returns a title for a version: its label, or the time of its creation. */
export const versionTitle = ({ label, createdAt }: Pick<SavedVersion, 'label' | 'createdAt'>): string =>
  label || `the version of ${formatTime(createdAt)}`

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
