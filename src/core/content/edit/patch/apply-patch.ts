import type * as Y from 'yjs'
import { ApiError } from '../../../base/errors.ts'
import { isArray, isObject, toJson } from '../../json/json.ts'
import { readArray, readMap } from '../../stored/shared-values.ts'
import { JsonPlan } from '../../values/plan.ts'
import { structsIn } from '../../values/replace-values.ts'
import { writeEdits } from '../../values/write-edits.ts'
import { budgetFor } from '../../xml/budget.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import type { EditOutcome, JsonPatchOperation } from '../edit.ts'
import { isPlainView } from './overlay.ts'
import { PatchPlan } from './patch-plan.ts'
import { PatchRun } from './patch-run.ts'
import { withoutCopies } from './plain-copy.ts'
import { commonLength, formatPointer } from './pointer.ts'

/**
 * Carries out a JSON patch (RFC 6902) on a root, or throws and has changed nothing. The operations run on a
 * view of the values that they touch. Then the differences are written.
 *
 * Shared values that stay are changed in place. A change inside a plain value replaces the smallest stored
 * value that contains it. New values have the same form as in a replacement of the whole content. Yjs cannot
 * move values: `move` deletes the value and inserts an equal one, and edits of other clients in the old value
 * are lost. The new value keeps the formatting of shared texts if it is shared again. Operations without effect
 * write nothing.
 * @param operations operations that `checkPatch` has returned
 * @param place position of the patch in the request, for example `edits[0].patch`
 * @throws ApiError FAILED_PRECONDITION if an operation fails; INVALID_ARGUMENT if the result exceeds a limit,
 * or if a string that replaces XML is not XML; RESOURCE_EXHAUSTED as for `Output`
 */
export function applyPatch(
  transaction: Y.Transaction,
  root: SharedRoot,
  kind: 'map' | 'array',
  operations: readonly JsonPatchOperation[],
  place: string,
): EditOutcome {
  const run = new PatchRun(root, kind)
  for (const [index, operation] of operations.entries())
    withPlace(`${place}[${index}]`, () => run.run(operation, `${place}[${index}]`))
  const plan = new JsonPlan(budgetFor(structsIn(transaction.doc)))
  withPlace(place, () => planRun(plan, run, root))
  const written = writeEdits(transaction, plan.edits)
  return {
    place: { path: formatPointer(commonPath(operations)) },
    insertions: plan.insertions + written.insertions,
    deletions: plan.deletions + written.deletions,
    changed: plan.edits.length > 0,
  }
}

function planRun(plan: JsonPlan, run: PatchRun, root: SharedRoot): void {
  if (!isPlainView(run.root)) return new PatchPlan(plan).view(run.root)
  const target = toJson(withoutCopies(run.root.toPlain())) ?? null
  if (isArray(target)) plan.array(readArray(root), target)
  else if (isObject(target)) plan.map(readMap(root), target)
}

/** Runs `act`, and adds a position in the request to errors that do not have it. */
function withPlace(place: string, act: () => void): void {
  try {
    act()
  } catch (error) {
    if (!(error instanceof ApiError) || error.message.startsWith(place)) throw error
    const { code, message, details, retryAfterSeconds } = error
    throw new ApiError(code, `${place}: ${message}`, {
      ...(details && { details }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    })
  }
}

/** Returns the longest path that contains the places of all operations. */
function commonPath(operations: readonly JsonPatchOperation[]): readonly string[] {
  const paths = operations.flatMap(({ path, ...operation }) =>
    'from' in operation ? [path, operation.from] : [path],
  )
  const [first = [], ...others] = paths
  return others.reduce((common, path) => common.slice(0, commonLength(common, path)), first)
}
