import { extname } from 'node:path'
import { StorageError } from '../../capabilities/backups/storage/storage-error.ts'
import { errorMessage } from '../../core/base/errors.ts'
import { isJsonObject } from '../../core/base/json.ts'
import * as s from '../../core/base/schema.ts'
import { didYouMean } from '../../core/base/text.ts'
import { matchesSchema, mismatchOf } from '../../core/base/validation.ts'
import { readableTypes, stringTypes } from '../../core/content/content-type-names.ts'
import type { ContentTarget } from '../../core/content/replace.ts'
import { readUpdate } from '../../core/update/read-update.ts'
import type { ReadFormat, ReadingFlags } from '../location/location.ts'

/** Flags that describe the file of `doc put`. */
interface FileFlags extends Pick<ReadingFlags, 'contentKey'> {
  readonly format?: ReadFormat
  readonly type?: string
}

/**
 * Returns the content of a file; null if the file contains an update.
 * @throws StorageError
 */
export function parseFileContent(
  bytes: Buffer,
  { format, type, contentKey }: FileFlags,
): ContentTarget | null {
  if (format === 'update') return null
  const inFormat = readableTypes.find((name) => name === format)
  if (inFormat !== undefined) {
    const isString = stringTypes.some((name) => name === inFormat)
    return { type: inFormat, contentKey, data: isString ? bytes.toString() : parseJson(bytes) }
  }
  if (type !== undefined) return { type, contentKey, data: parseJson(bytes) }
  if (format === undefined && !looksLikeJson(bytes)) return null
  const shown = shownContent(parseJson(bytes))
  return { ...shown, contentKey: contentKey ?? shown.contentKey }
}

/** Read formats by file extension. */
const formatOf: Readonly<Record<string, ReadFormat>> = {
  '.xml': 'xml',
  '.html': 'html',
  '.txt': 'text',
  '.md': 'text',
  '.json': 'json',
}

/**
 * Returns the given format, or the format of the file extension. Undefined: the content of the file shows the
 * format.
 */
export const fileFormat = (file: string, { format, type }: FileFlags): ReadFormat | undefined =>
  format ?? (type === undefined ? formatOf[extname(file).toLowerCase()] : undefined)

/**
 * Checks that the bytes are an update. The error lists the other formats, because the caller may have
 * forgotten to specify the format.
 * @throws StorageError
 */
export function checkUpdate(bytes: Uint8Array): void {
  try {
    readUpdate(bytes)
  } catch (error) {
    throw new StorageError(`the file is not a Yjs update: ${errorMessage(error)}`, {
      cause: error,
      hint: 'name its format: for example --format text, markdown or xml',
    })
  }
}

/**
 * Returns whether the first character begins an object or array. In an update, the first byte is the number
 * of clients.
 */
const looksLikeJson = (bytes: Buffer): boolean =>
  /^\s*[[{]/.test(bytes.subarray(0, 1_000).toString()) && isText(bytes)

function isText(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

const members = ['type', 'contentKey', 'data'] as const
const shape = 'expected {"type", "contentKey", "data"} as `doc get` prints it'
const shownSchema = s.object({ type: s.string, data: s.unknown }, { contentKey: s.orNull(s.string) })

/**
 * Reads the content from JSON in the form that `doc get` prints.
 * @throws StorageError
 */
function shownContent(json: unknown): ContentTarget {
  const isShown = matchesSchema(shownSchema, json)
  const names = isJsonObject(json) ? Object.keys(json) : []
  const unknown = names.find((name) => !members.some((member) => member === name))
  const meant = unknown === undefined ? '' : didYouMean(unknown, members)
  if (unknown !== undefined && (isShown || meant !== ''))
    throw new StorageError(`the file has the unknown member ${JSON.stringify(unknown)}${meant}; ${shape}`)
  if (!isShown)
    throw new StorageError(
      `the file cannot be used: ${mismatchOf(shownSchema).message}; ${shape}, or the content alone with --type`,
    )
  const { type, contentKey, data } = json
  return { type, contentKey: contentKey ?? undefined, data }
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch (error) {
    throw new StorageError(`the file is not JSON: ${errorMessage(error)}`, { cause: error })
  }
}
