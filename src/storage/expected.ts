import {
  keys,
  organizationPart,
  type ResourceType,
  type SubjectType,
} from '../directory/organization-keys.ts'
import { decodeRecord } from '../directory/records.ts'
import type { Expected } from '../engine/damage.ts'
import type { Key } from '../engine/engine.ts'

/** What is read of records here; a record that is being deleted goes together with its index. */
interface Fields {
  readonly folderId?: string
  readonly parentFolderId?: string
  readonly expiresAt?: number | null
  readonly hash?: string
}

type Rule = (key: readonly string[], record: () => Fields) => Key | null

const [organizations = ''] = organizationPart({ workspaceId: '', apiKey: '', organizationId: '' })

/** By the kind and the length of a key: what is stored twice, each way. */
const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['documents 2', ([, id = ''], record) => keys.documentIn(record().folderId ?? '', id)],
  ['documentsIn 3', ([, , id = '']) => keys.document(id)],
  ['folders 2', ([, id = ''], record) => keys.folderIn(record().parentFolderId ?? '', id)],
  ['foldersIn 3', ([, , id = '']) => keys.folder(id)],
  ['members 3', ([, group = '', user = '']) => keys.groupOf(user, group)],
  ['groupsOf 3', ([, user = '', group = '']) => keys.member(group, user)],
  [
    'grants 5',
    ([, type, id = '', subject, of = ''], record) =>
      keys.grantOf(
        { type: subject as SubjectType, id: of },
        { type: type as ResourceType, id },
        record().expiresAt ?? null,
      ),
  ],
  [
    'grantsOf 6',
    ([, subject, of = '', , type, id = '']) =>
      keys.grant({ type: type as ResourceType, id }, { type: subject as SubjectType, id: of }),
  ],
])

/**
 * What a record of an organization says that there is: its entry in the index, the record of an entry, and the content
 * of a version.
 */
export function expectedOf(part: Key, key: Key, value: Uint8Array): readonly Expected[] {
  if (part[0] !== organizations) return []
  const record = (): Fields => decodeRecord(value) as Fields
  const [kind = ''] = key
  if (kind === 'versions' && key.length === 4) {
    const [, documentId = '', editorId = ''] = key
    const blob = ['versions', ...part.slice(1), documentId, editorId, record().hash ?? '']
    return [{ in: 'blobs', key: blob }]
  }
  const other = rules.get(`${kind} ${key.length}`)?.(key, record) ?? null
  return other === null ? [] : [{ in: 'partition', key: other }]
}
