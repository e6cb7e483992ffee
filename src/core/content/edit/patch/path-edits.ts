import type { Json } from '../../json/json.ts'
import { shownPointer } from '../../json/pointer.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import type { JsonPatchOperation } from '../edit.ts'
import { editNotSupported, targetNotFound } from '../edit-errors.ts'
import { childOf, ListView, type Value, viewRoot } from './overlay.ts'

function findValue(root: SharedRoot, kind: 'map' | 'array', path: readonly string[]): Value {
  let value: Value = viewRoot(root, kind)
  for (const token of path) {
    value = childOf(value, token)
    if (value === undefined) return undefined
  }
  return value
}

/**
 * Returns the patch that inserts a value into an array. `into` appends the value to the array at `path`.
 * @throws ApiError FAILED_PRECONDITION if there is no value at `path`; INVALID_ARGUMENT if the value would not
 * be an element of an array
 */
export function patchOfInsertion(
  root: SharedRoot,
  kind: 'map' | 'array',
  path: readonly string[],
  at: 'before' | 'after' | 'into' | 'start' | 'end',
  value: Json,
): readonly JsonPatchOperation[] {
  const isBeside = at === 'before' || at === 'after'
  const parentPath = isBeside ? path.slice(0, -1) : path
  if (findValue(root, kind, path) === undefined)
    throw targetNotFound(`there is no value at ${shownPointer(path)}`)
  if (!(findValue(root, kind, parentPath) instanceof ListView) || (isBeside && path.length === 0)) {
    throw editNotSupported(
      `${shownPointer(parentPath)} is not an array; to set a member of an object, send a patch with "add"`,
    )
  }
  return [{ op: 'add', path: [...parentPath, elementToken(path, at)], value }]
}

function elementToken(path: readonly string[], at: 'before' | 'after' | 'into' | 'start' | 'end'): string {
  if (at === 'start') return '0'
  if (at === 'into' || at === 'end') return '-'
  const index = Number(path.at(-1))
  return String(at === 'before' ? index : index + 1)
}
