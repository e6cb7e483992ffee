import type { Operation } from '../../rest/operation.ts'

export interface NamedOperation {
  readonly operation: Operation
  /** Names from the API object to the method, such as `crdt`, `update`. */
  readonly parts: readonly string[]
  /** Start of the names of its types, such as `CrdtUpdate`. */
  readonly typeName: string
}

/**
 * Returns the operations with their names. The names are the parts of the path without its version. An operation
 * that has a successor in a later version is below `v1`.
 * @throws TypeError if two operations have the same name, or an operation is also the parent of another one
 */
export function nameOperations(operations: readonly Operation[]): readonly NamedOperation[] {
  const paths = new Set<string>(operations.map(({ path }) => path))
  const named = operations
    .map((operation) => {
      const [version = '', ...rest] = operation.path.slice(1).split('/')
      const isReplaced = version === 'v1' && paths.has(`/v2/${rest.join('/')}`)
      const parts = (isReplaced ? [version, ...rest] : rest).map(camelCase)
      return { operation, parts, typeName: parts.map(capitalize).join('') }
    })
    .toSorted((one, other) => compare(one.parts.join('.'), other.parts.join('.')))
  for (const [index, { parts, operation }] of named.entries()) {
    const next = named[index + 1]
    const isParent = next !== undefined && `${next.parts.join('.')}.`.startsWith(`${parts.join('.')}.`)
    if (isParent) throw new TypeError(`${operation.path} and ${next.operation.path} need different names`)
  }
  return named
}

const camelCase = (part: string): string => part.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())

export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Compares texts in an order that is the same in all languages. */
const compare = (one: string, other: string): number => (one < other ? -1 : one === other ? 0 : 1)
