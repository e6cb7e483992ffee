import { addTo } from '../../base/maps.ts'
import { rootFolderId } from '../organizations/organization-keys.ts'

/**
 * Reason why a folder cannot be moved. `cycle`: the folder would be inside itself. `depth`: folders would be
 * nested too deeply.
 */
export type MoveProblem = 'cycle' | 'depth'

type Parents = ReadonlyMap<string, string>

/**
 * Returns the moves that cannot be made together, each with the reason. The result does not depend on the
 * order of the moves. In each round, all moves that lead to a cycle or exceed the depth are rejected
 * together, and the remaining moves are checked again. The rounds end when all remaining moves can be made.
 * @param parents the current parent folder of each folder
 * @param moves the new parent of each moved folder; the new parents must exist
 * @param depthMax maximum number of nested folders, including the outermost folder
 */
export function rejectedMoves(
  parents: Parents,
  moves: Parents,
  depthMax: number,
): ReadonlyMap<string, MoveProblem> {
  const refused = new Map<string, MoveProblem>()
  const left = new Map(moves)
  const children = childrenOf(parents)
  for (;;) {
    const problems = problemsOf({ parents, children, moves: left }, depthMax)
    if (problems.length === 0) return refused
    for (const [id, problem] of problems) {
      refused.set(id, problem)
      left.delete(id)
    }
  }
}

interface Tree {
  readonly parents: Parents
  readonly children: ReadonlyMap<string, readonly string[]>
  readonly moves: Parents
}

function childrenOf(parents: Parents): ReadonlyMap<string, readonly string[]> {
  const children = new Map<string, string[]>()
  for (const [id, parent] of parents) addTo(children, parent, id)
  return children
}

function problemsOf(tree: Tree, depthMax: number): readonly (readonly [string, MoveProblem])[] {
  const problems: (readonly [string, MoveProblem])[] = []
  for (const id of tree.moves.keys()) {
    const depth = depthOf(tree, id)
    if (depth === 'cycle') problems.push([id, 'cycle'])
    // The depth is null if the ancestors of the folder form a cycle. The moves of that cycle are rejected
    // first.
    else if (depth !== null && depth + heightBelow(tree, id, depthMax) > depthMax)
      problems.push([id, 'depth'])
  }
  return problems
}

/**
 * Returns the nesting depth of a folder. Returns `cycle` if the folder is inside itself; null if its
 * ancestors form a cycle that does not contain the folder.
 */
function depthOf({ parents, moves }: Tree, folderId: string): number | 'cycle' | null {
  const depthEver = parents.size + moves.size
  let depth = 0
  for (let id = folderId; id !== rootFolderId; id = moves.get(id) ?? parents.get(id) ?? rootFolderId) {
    if (depth > 0 && id === folderId) return 'cycle'
    if (depth > depthEver) return null
    depth += 1
  }
  return depth
}

/**
 * Returns the number of folder levels below this folder, at most `heightMax`. A moved folder counts under its
 * new parent.
 */
function heightBelow({ children, moves }: Tree, folderId: string, heightMax: number): number {
  let height = 0
  for (let level = [folderId]; height <= heightMax; height += 1) {
    level = level.flatMap((id) => (children.get(id) ?? []).filter((child) => !moves.has(child)))
    if (level.length === 0) break
  }
  return height
}
