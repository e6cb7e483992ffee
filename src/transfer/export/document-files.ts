import * as Y from 'yjs'
import { contentTypes } from '../../content/content-types.ts'
import { readRootAs } from '../../content/read-root.ts'
import { createDoc } from '../../content/yjs/create-doc.ts'
import { rootKind } from '../../content/yjs/root-kind.ts'
import { ApiError } from '../../errors.ts'
import type { DocumentAddress } from '../../model/address.ts'
import type { ExportDirectory } from './export-directory.ts'
import { type DocumentFile, sha256Of } from './manifest.ts'

/** A root as `POST /v2/crdt/get` shows it; of a text also its formatting. */
export interface ExportedRoot {
  readonly contentKey: string
  readonly type: string
  readonly data: unknown
  /** Of a text: as a Quill delta. */
  readonly delta?: unknown
}

/** Every root that holds anything, and can be shown. */
export function exportedRoots(doc: Y.Doc): readonly ExportedRoot[] {
  const roots: ExportedRoot[] = []
  for (const contentKey of [...doc.share.keys()].sort()) {
    const type = rootKind(doc, contentKey)
    if (type === 'none') continue
    try {
      const data = contentTypes[type]?.read(doc, contentKey)
      const delta = type === 'text' ? { delta: readRootAs(doc, 'delta', contentKey).data } : {}
      roots.push({ contentKey, type, data, ...delta })
    } catch (error) {
      // What no reader takes is in the update all the same.
      if (!(error instanceof ApiError || isTooLong(error))) throw error
    }
  }
  return roots
}

/** Is this what a string beyond the longest that the engine of JavaScript makes ends with? */
const isTooLong = (error: unknown): boolean => error instanceof RangeError

/** Null where it is too long for a string: the update says it all the same. */
function jsonOf(roots: readonly ExportedRoot[]): string | null {
  try {
    return `${JSON.stringify(roots, null, 2)}\n`
  } catch (error) {
    if (isTooLong(error)) return null
    throw error
  }
}

/** What a document is in an export: its update, and what can be read without Yjs. */
export async function writeDocument(
  tree: ExportDirectory,
  address: DocumentAddress,
  bytes: Uint8Array,
): Promise<{ readonly stateVector: string; readonly files: readonly DocumentFile[] }> {
  const doc = createDoc()
  try {
    Y.applyUpdate(doc, bytes)
    const folder = folderOf(address)
    const roots = exportedRoots(doc)
    const files: DocumentFile[] = [{ ...(await tree.write(`${folder}/state.bin`, bytes)), is: 'update' }]
    const json = jsonOf(roots)
    if (json !== null) files.push({ ...(await tree.write(`${folder}/content.json`, json)), is: 'json' })
    for (const [index, { contentKey, type: is, data }] of roots.entries()) {
      if ((is !== 'text' && is !== 'xml') || typeof data !== 'string') continue
      const ending = is === 'text' ? 'txt' : 'xml'
      const file = `${folder}/${index + 1}-${readable(contentKey)}.${ending}`
      files.push({ ...(await tree.write(file, data)), is, contentKey })
    }
    return { stateVector: Buffer.from(Y.encodeStateVector(doc)).toString('base64'), files }
  } finally {
    doc.destroy()
  }
}

/** Of a digest: enough to tell names apart. */
const digestLength = 12
/** Characters of an id that are in the name of a folder. */
const readableLength = 40

/** The name is for people; what tells two documents apart is the digest of the whole address. */
export function folderOf(address: DocumentAddress): string {
  const { workspaceId, apiKey, organizationId, documentId, editorId } = address
  const owner = sha256Of(JSON.stringify([workspaceId, apiKey, organizationId])).slice(0, digestLength)
  const own = sha256Of(JSON.stringify([documentId, editorId])).slice(0, digestLength)
  const names = `${readable(documentId)}.${readable(editorId)}`
  return `documents/${readable(organizationId)}-${owner}/${names}-${own}`
}

const readable = (id: string): string => id.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, readableLength)
