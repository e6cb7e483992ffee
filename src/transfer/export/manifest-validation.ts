import { adoptedMax } from '../../engine/log-state.ts'
import type { DocumentPath } from '../../model/address.ts'
import { pathProblem } from '../import/name-mapping.ts'
import { type ExportSummary, type ListKind, listNames } from './manifest.ts'

type ManifestMembers = Readonly<Record<string, unknown>>

/** Checks of the lines of an export: a checksum that fits does not say that Weft has written them. */
const checks: Readonly<Record<ListKind, (line: ManifestMembers) => boolean>> = {
  documents: (line) => isAddress(line.address) && (line.state === 'live' ? isLive(line) : isDeleted(line)),
  values: ({ part, key, secrets, ...bytes }) =>
    isKey(part) && isKey(key) && isBytes(bytes) && (secrets === undefined || isTexts(secrets)),
  blobs: ({ key, ...file }) => isKey(key) && isFile(file),
  jobs: ({ is, queue, id, at, ...bytes }) =>
    (is === 'job' || is === 'buried') && isTexts([queue, id]) && isNumber(at, 0) && isBytes(bytes),
}

/** Is it a line of that list? */
export const isManifestLine = (kind: ListKind, line: unknown): boolean => isObject(line) && checks[kind](line)

/** Does it say what an export holds? */
export function isExportSummary(value: ExportSummary): boolean {
  const summary: unknown = value
  if (!isObject(summary) || !isObject(summary.lists)) return false
  const { lists, holds, organizationId, secrets, credentials } = summary
  return (
    Object.entries(listNames).every(([kind, name]) => {
      const list = lists[kind]
      return isFile(list) && list.file === name && isNumber(list.lines, 0)
    }) &&
    (holds === 'all' || holds === 'documents') &&
    (secrets === 'included' || secrets === 'left out') &&
    (organizationId === null || isText(organizationId)) &&
    (credentials === null || isFile(credentials))
  )
}

const isObject = (value: unknown): value is ManifestMembers =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (value: unknown): value is string => typeof value === 'string' && value.isWellFormed()
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)
const isKey = (value: unknown): boolean => isTexts(value) && (value as unknown[]).length > 0
const isNumber = (value: unknown, least: number): boolean =>
  Number.isInteger(value) && (value as number) >= least && (value as number) <= adoptedMax

const isFile = (value: unknown): value is ManifestMembers =>
  isObject(value) &&
  isText(value.file) &&
  isNumber(value.bytes, 0) &&
  typeof value.sha256 === 'string' &&
  /^[0-9a-f]{64}$/.test(value.sha256)

const isBytes = (value: ManifestMembers): boolean => 'json' in value || isText(value.base64)

const isAddress = (value: unknown): boolean =>
  isObject(value) &&
  isTexts([value.workspaceId, value.apiKey]) &&
  pathProblem(value as unknown as DocumentPath) === null

const isDeleted = ({ state, epoch }: ManifestMembers): boolean => state === 'deleted' && isNumber(epoch, 1)

const isLive = ({ log, stateVector, files }: ManifestMembers): boolean =>
  isObject(log) &&
  isNumber(log.epoch, 1) &&
  isNumber(log.head, 1) &&
  isNumber(log.changedAt, 0) &&
  isText(log.changedBy) &&
  isText(stateVector) &&
  Array.isArray(files) &&
  files.every(isFile)
