import { json } from '../../../core/base/schema.ts'
import type { KnownKind } from '../../../core/content/yjs/root-kind.ts'
import { getContent } from '../../../rest/v2/crdt/get.ts'
import { invalidArgument, type ToolContext } from '../tool.ts'

const idLengthMax = 512

const id = { type: 'string', minLength: 1, maxLength: idLengthMax } as const

export const organizationMember = {
  ...id,
  description: 'Organization of the document. Default: the only organization of your token.',
} as const

export const documentMember = {
  ...id,
  description: 'Id of the document, as `list_documents` returns it.',
} as const

/** Members of the arguments that name an editor. */
export const editorMembers = {
  organizationId: organizationMember,
  documentId: documentMember,
  editorId: {
    ...id,
    description: 'Editor of the document. Default: its only editor. A branch is `editor@branch`.',
  },
  contentKey: json.text('Root of the editor. Default: its only root. Most editors have one.', {
    maxLength: 1_000,
  }),
} as const

/** Members of `documentData` that name an editor. */
export const editorIdMembers = {
  organizationId: json.text(),
  documentId: json.text(),
  editorId: json.text(),
} as const

interface GivenEditor {
  readonly organizationId?: string
  readonly documentId: string
  readonly editorId?: string
  readonly contentKey?: string
}

export interface AddressIds {
  readonly organizationId: string
  readonly documentId: string
  readonly editorId: string
}

/** Kinds of content for tools. */
export type ContentKind = 'xml' | 'text' | 'json'

/** How tools read a root, by its kind. */
const contentKinds: Readonly<Record<KnownKind, ContentKind>> = {
  xml: 'xml',
  xmltext: 'xml',
  text: 'text',
  map: 'json',
  array: 'json',
}

const isRootType = (type: string): type is KnownKind => Object.hasOwn(contentKinds, type)

/** An editor that exists, and its root. */
export interface FoundEditor {
  readonly ids: AddressIds
  /** Absent if the request names no root: the server then chooses it. */
  readonly root: { readonly contentKey?: string }
  readonly kind: ContentKind
}

/** @throws ApiError if the token has several organizations, or none */
export function chooseOrganization(given: string | undefined, { organizationIds }: ToolContext): string {
  if (given !== undefined) return given
  const [only, ...others] = organizationIds
  if (only !== undefined && others.length === 0) return only
  throw invalidArgument(
    '/organizationId',
    only === undefined
      ? 'is required, because the token names no organization'
      : `is required, because the token names several: ${organizationIds.slice(0, 20).join(', ')}`,
  )
}

/** Lists the editors of a document that have content, without branches. @throws ApiError */
export async function listEditorIds(
  context: ToolContext,
  document: { readonly organizationId: string; readonly documentId: string },
): Promise<readonly string[]> {
  const { data } = await context.api.call(getContent, { ...document, format: 'roots' })
  return data.map((entry) => entry.id)
}

/**
 * Finds the editor that the arguments name, and the kind of its root.
 * @throws ApiError if it does not exist, or if the document has several editors and none is named
 */
export async function findEditor(given: GivenEditor, context: ToolContext): Promise<FoundEditor> {
  const { documentId, editorId, contentKey } = given
  const organizationId = chooseOrganization(given.organizationId, context)
  const root = contentKey === undefined ? {} : { contentKey }
  const address = { organizationId, documentId, editorId, ...root }
  const { data } = await context.api.call(getContent, { ...address, format: 'roots' })
  const [only, ...others] = data
  if (only === undefined || others.length > 0)
    throw invalidArgument(
      '/editorId',
      `is required, because the document has several editors: ${data
        .slice(0, 20)
        .map((entry) => entry.id)
        .join(', ')}`,
    )
  const kind = isRootType(only.type) ? contentKinds[only.type] : 'json'
  return { ids: { organizationId, documentId, editorId: only.id }, root, kind }
}
