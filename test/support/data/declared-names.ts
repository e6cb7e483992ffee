import { type BindingPattern, parseSync, type Statement, Visitor } from 'oxc-parser'

/** A name that a file declares at its top level. */
export interface DeclaredName {
  readonly name: string
  readonly kind: 'class' | 'type' | 'value'
  readonly isExported: boolean
}

/** Returns the names that a file declares at its top level. Imports and re-exports are not included. */
export const declaredNames = (file: string, text: string): readonly DeclaredName[] =>
  parseSync(file, text).program.body.flatMap((statement) =>
    statement.type === 'ExportNamedDeclaration' && statement.declaration !== null
      ? namesOf(statement.declaration, true)
      : namesOf(statement, false),
  )

function namesOf(statement: Statement, isExported: boolean): readonly DeclaredName[] {
  switch (statement.type) {
    case 'ClassDeclaration':
      return statement.id === null ? [] : [{ name: statement.id.name, kind: 'class', isExported }]
    case 'TSInterfaceDeclaration':
    case 'TSTypeAliasDeclaration':
      return [{ name: statement.id.name, kind: 'type', isExported }]
    case 'FunctionDeclaration':
      return statement.id === null ? [] : [{ name: statement.id.name, kind: 'value', isExported }]
    case 'VariableDeclaration':
      return statement.declarations
        .flatMap(({ id }) => boundNames(id))
        .map((name) => ({ name, kind: 'value', isExported }))
    default:
      return []
  }
}

function boundNames(pattern: BindingPattern): readonly string[] {
  switch (pattern.type) {
    case 'Identifier':
      return [pattern.name]
    case 'ArrayPattern':
      return pattern.elements.flatMap((each) =>
        each === null || each.type === 'RestElement' ? [] : boundNames(each),
      )
    case 'ObjectPattern':
      return pattern.properties.flatMap((each) => (each.type === 'RestElement' ? [] : boundNames(each.value)))
    default:
      return boundNames(pattern.left)
  }
}

/** Returns all identifiers that a file contains. A private identifier starts with `#`. */
export function identifiersIn(file: string, text: string): ReadonlySet<string> {
  const found = new Set<string>()
  new Visitor({
    Identifier: ({ name }) => void found.add(name),
    PrivateIdentifier: ({ name }) => void found.add(`#${name}`),
  }).visit(parseSync(file, text).program)
  return found
}

/**
 * Returns the words of an identifier in lower case. For example, `#bytesMax` consists of `bytes` and `max`.
 */
export const wordsIn = (identifier: string): readonly string[] =>
  (identifier.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []).map((word) => word.toLowerCase())

/** Returns whether two different names differ only by one letter or by a plural ending. */
export function areAlmostEqual(one: string, two: string): boolean {
  if (Math.abs(one.length - two.length) > 2) return false
  // One letter differs, so another one is equal. This ends most of the comparisons.
  if (one[0] !== two[0] && one.at(-1) !== two.at(-1)) return false
  const [short, long] = one.length <= two.length ? [one, two] : [two, one]
  if (short === long) return false
  if (`${short}s` === long || `${short}es` === long) return true
  if (long.length - short.length > 1) return false
  let start = 0
  while (start < short.length && short[start] === long[start]) start += 1
  const rest = short.length === long.length ? short.slice(start + 1) : short.slice(start)
  return rest === long.slice(start + 1)
}
