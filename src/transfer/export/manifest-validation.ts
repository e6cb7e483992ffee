import * as v from 'valibot'
import { adoptedMax } from '../../engine/log-state.ts'
import type { DocumentPath } from '../../model/address.ts'
import { pathProblem } from '../import/name-mapping.ts'
import { fileSchema, type ListKind } from './manifest.ts'

type ManifestMembers = Readonly<Record<string, unknown>>

/**
 * Functions that check the lines of each list. These checks are necessary because a matching checksum does
 * not prove that Weft wrote the lines.
 */
const checks: Readonly<Record<ListKind, (line: ManifestMembers) => boolean>> = {
  documents: (line) => isAddress(line.address) && (line.state === 'live' ? isLive(line) : isDeleted(line)),
  values: ({ part, key, secrets, ...bytes }) =>
    isKey(part) && isKey(key) && isBytes(bytes) && (secrets === undefined || isTexts(secrets)),
  blobs: ({ key, ...file }) => isKey(key) && isFile(file),
  jobs: ({ is, queue, id, at, ...bytes }) =>
    (is === 'job' || is === 'buried') && isTexts([queue, id]) && isNumber(at, 0) && isBytes(bytes),
}

/** Returns whether `line` is a valid line of the list `kind`. */
export const isManifestLine = (kind: ListKind, line: unknown): boolean => isObject(line) && checks[kind](line)

const isObject = (value: unknown): value is ManifestMembers =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (value: unknown): value is string => typeof value === 'string' && value.isWellFormed()
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)
const isKey = (value: unknown): boolean => isTexts(value) && (value as unknown[]).length > 0
const isNumber = (value: unknown, least: number): boolean =>
  Number.isInteger(value) && (value as number) >= least && (value as number) <= adoptedMax

const isFile = (value: unknown): boolean => v.is(fileSchema, value)

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
