import { ApiError, invalid } from '../../../base/errors.ts'
import { shortened } from '../../../base/text.ts'
import { commonStart } from '../../diff/common-ends.ts'
import { type Json, jsonTypeName } from '../../json/json.ts'
import { JsonValidator } from '../../json/json-validator.ts'
import { parsePointer } from '../../json/pointer.ts'
import type { JsonPatchOperation } from '../edit.ts'

/** Maximum number of operations of one patch. */
const operationsMax = 1_000

/** Maximum number of characters of a wrong value in a message. */
const shownLengthMax = 50

/**
 * Runs the checks of a JSON patch (RFC 6902) that need no document. Ignores members that the RFC does not
 * define.
 * @param place position of the patch in the request, for example `edits[0].patch`
 * @throws ApiError INVALID_ARGUMENT with the position of the operation, for example `edits[0].patch[1]`
 */
export function checkPatch(data: unknown, place: string): readonly JsonPatchOperation[] {
  if (!Array.isArray(data)) {
    throw invalid(
      'crdt/invalid-edit',
      `${place}: must be an array of operations of JSON Patch, not ${jsonTypeName(data)}`,
    )
  }
  if (data.length > operationsMax) {
    throw invalid(
      'crdt/invalid-edit',
      `${place}: must have at most ${operationsMax} operations; it has ${data.length}`,
    )
  }
  // One validator limits the values of all operations together.
  const values = new JsonValidator()
  return Array.from(data, (operation: unknown, index) =>
    new OperationReader(operation, `${place}[${index}]`, values).read(),
  )
}

class OperationReader {
  readonly #data: unknown
  readonly #place: string
  readonly #values: JsonValidator

  constructor(data: unknown, place: string, values: JsonValidator) {
    this.#data = data
    this.#place = place
    this.#values = values
  }

  read(): JsonPatchOperation {
    if (typeof this.#data !== 'object' || this.#data === null || Array.isArray(this.#data))
      throw this.#invalid(`must be an object, not ${jsonTypeName(this.#data)}`)
    const op = this.#member('op')
    switch (op) {
      case 'add':
      case 'replace':
      case 'test':
        return { op, path: this.#pointer('path'), value: this.#value() }
      case 'remove':
        return { op, path: this.#pointer('path') }
      case 'move':
      case 'copy': {
        const [from, path] = [this.#pointer('from'), this.#pointer('path')]
        if (op === 'move' && from.length < path.length && commonStart(from, path) === from.length)
          throw this.#invalid('a value cannot be moved into itself; path must not start with from')
        return { op, from, path }
      }
      default:
        throw this.#invalid(
          `op must be "add", "remove", "replace", "move", "copy" or "test", not ${describe(op)}`,
        )
    }
  }

  #member(name: string): unknown {
    return Object.getOwnPropertyDescriptor(this.#data, name)?.value
  }

  #pointer(name: 'path' | 'from'): readonly string[] {
    const pointer = this.#member(name)
    if (typeof pointer !== 'string') throw this.#invalid(`${name} must be a string, not ${describe(pointer)}`)
    const path = parsePointer(pointer)
    if (path !== null) return path
    throw this.#invalid(
      `${name} is not a JSON pointer: ${describe(pointer)}; expected "" or "/" before each key, with ~0 for ~ and ~1 for /`,
    )
  }

  #value(): Json {
    const value = this.#member('value')
    if (value === undefined) throw this.#invalid('value is required')
    try {
      return this.#values.read(value)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      throw invalid('crdt/invalid-edit', `${this.#place}.value: ${error.message}`, error.details)
    }
  }

  #invalid(problem: string): ApiError {
    return invalid('crdt/invalid-edit', `${this.#place}: ${problem}`)
  }
}

const describe = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(shortened(value, shownLengthMax)) : jsonTypeName(value)
