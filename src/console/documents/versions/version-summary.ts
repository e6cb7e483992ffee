/** A version in the form of `/v2/crdt/versions/list`. */
export interface VersionSummary {
  readonly versionId: string
  readonly kind: 'manual' | 'automatic'
  /** Label; '' if the version has none. */
  readonly label: string
  readonly createdAt: string
  readonly createdBy: string
  readonly sizeBytes: number
  readonly authors: readonly { readonly userId: string; readonly name?: string }[]
}

const formats = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** Returns a title by which users can distinguish versions. */
export const versionTitle = ({ label, createdAt }: Pick<VersionSummary, 'label' | 'createdAt'>): string =>
  label || `the version of ${formats.format(new Date(createdAt))}`
