import * as Y from 'yjs'
import { jsonBytesUpTo } from '../../../model/json-pieces.ts'
import { structsIn } from '../../values/replace-values.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import type { JsonPatchOperation } from '../edit.ts'
import type { WorkLimit } from '../work-limit.ts'
import { childOf, isContainer, isPlainView, type Value, viewRoot } from './overlay.ts'

/** Steps of a patch for each struct of the document: one that changes a few plain values only passes over them. */
const stepsPerStruct = { plain: 15, any: 1_000 } as const

/** Steps of writing a plain value again, for each byte of its JSON. */
const stepsPerByte = 3

/** Plain values with more bytes are not counted further. */
const bytesMax = 1_000_000

/**
 * Counts the work of a patch that is the only edit of a request.
 * @throws WorkLimitError
 */
export function spendOnPatch(
  work: WorkLimit,
  doc: Y.Doc,
  root: SharedRoot,
  kind: 'map' | 'array',
  operations: readonly JsonPatchOperation[],
): void {
  if (!work.isLimited) return
  const structs = structsIn(doc)
  work.spend(structs * stepsPerStruct.plain)
  const view = viewRoot(root, kind)
  for (const operation of operations) {
    const bytes = hasPlainValue(operation) ? plainBytesAt(view, operation.path) : null
    work.spend(bytes === null ? structs * stepsPerStruct.any : bytes * stepsPerByte)
  }
}

/** Returns whether an operation needs no value of the document, and adds none with members. */
const hasPlainValue = (operation: JsonPatchOperation): boolean =>
  !('from' in operation) &&
  !('value' in operation && typeof operation.value === 'object' && operation.value !== null)

/**
 * Returns the bytes of the plain value that contains the value at a path, or that it is. Returns null if it is a shared
 * value, whose deletion or change can take long.
 */
function plainBytesAt(root: Value, path: readonly string[]): number | null {
  let value = root
  for (const token of path) {
    value = childOf(value, token)
    if (isPlainView(value)) return jsonBytesUpTo(value.source, bytesMax)
    if (!isContainer(value)) return value instanceof Y.AbstractType || value instanceof Y.Doc ? null : 0
  }
  return null
}
