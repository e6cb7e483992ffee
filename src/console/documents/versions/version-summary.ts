import type { SavedVersion } from '../../../client/api/operation-types.ts'
import { formatTime } from '../../ui/format.ts'

/** Returns a title for a version: its label, or the time of its creation. */
export const versionTitle = ({ label, createdAt }: Pick<SavedVersion, 'label' | 'createdAt'>): string =>
  label || `the version of ${formatTime(createdAt)}`
