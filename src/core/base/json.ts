import { findJsonProblem } from './json-problem.ts'
import type { SchemaOf } from './schema.ts'
import { matchesSchema, mismatchOf } from './validation.ts'

/**
 * Thrown if a text from outside this process is not the JSON that its reader expects. The message contains no
 * value from the text.
 */
export class MalformedJsonError extends Error {
  override readonly name = 'MalformedJsonError'
}

/**
 * Thrown if the JSON is valid except for a name, such as a kind, that this version does not know. A newer
 * version may have written this name.
 */
export class UnknownNameError extends MalformedJsonError {}

/** Returns whether a parsed value is an object, and not an array. */
export const isJsonObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Escapes a name for a JSON pointer (RFC 6901 3). */
export const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

const textOf = (source: string | Uint8Array): string =>
  typeof source === 'string' ? source : utf8.decode(source)

/**
 * Parses JSON that another process wrote or that was stored earlier, and checks it against `schema`. Returns the
 * parsed value itself, not a copy.
 * @param source text, or bytes of UTF-8
 * @throws MalformedJsonError if the source does not match the schema; UnknownNameError if the only problem is
 * an unknown string as a discriminator or as a value of a list
 */
export function readJson<T>(schema: SchemaOf<T>, source: string | Uint8Array): T {
  return checkJson(schema, parse(textOf(source)))
}

/** Like `readJson`, but returns null for malformed JSON, without a search for its problem. */
export function readJsonOrNull<T>(schema: SchemaOf<T>, source: string | Uint8Array): T | null {
  try {
    const value: unknown = JSON.parse(textOf(source))
    return matchesSchema(schema, value) ? value : null
  } catch {
    return null
  }
}

/**
 * Checks a value that is already parsed; see `readJson`.
 * @throws MalformedJsonError; UnknownNameError
 */
export function checkJson<T>(schema: SchemaOf<T>, value: unknown): T {
  if (matchesSchema(schema, value)) return value
  const { message, isUnknownName } = mismatchOf(schema)
  throw isUnknownName ? new UnknownNameError(message) : new MalformedJsonError(message)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    const { problem, line, column } = findJsonProblem(text)
    throw new MalformedJsonError(`line ${line}, column ${column}: ${problem}`)
  }
}
