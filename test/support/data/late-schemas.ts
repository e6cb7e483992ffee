import { type Expression, parseSync, type Statement, Visitor } from 'oxc-parser'

/**
 * Names of `schema.ts` that are not checked. Two functions read a schema. With `json`, functions build the parts of
 * operations, which are compiled when their modules load.
 */
const unchecked = ['isRequired', 'acceptsNull', 'json']

/**
 * Returns the places at which a file builds a schema after its module has loaded, such as
 * `src/core/store/stored-record.ts:4`. A function may build schemas if the file does not export it, and uses it only
 * outside of functions.
 */
export function lateSchemas(file: string, text: string): readonly string[] {
  if (!text.includes('/schema.ts')) return []
  const { program } = parseSync(file, text)
  const imported = new Set(program.body.flatMap(importedBuilders))
  const names = new Map(program.body.flatMap(localFunctions))
  const outer: (string | null)[] = []
  const built: { readonly by: string | null; readonly offset: number }[] = []
  const usedLate = new Set<string>()
  const enter = ({ start }: { readonly start: number }): void => void outer.push(names.get(start) ?? null)
  const leave = (): void => void outer.pop()
  new Visitor({
    FunctionDeclaration: enter,
    'FunctionDeclaration:exit': leave,
    FunctionExpression: enter,
    'FunctionExpression:exit': leave,
    ArrowFunctionExpression: enter,
    'ArrowFunctionExpression:exit': leave,
    PropertyDefinition: enter,
    'PropertyDefinition:exit': leave,
    Identifier({ name }) {
      if (outer.length > 0 && outer[0] !== name) usedLate.add(name)
    },
    CallExpression({ callee, start }) {
      const [by] = outer
      if (by !== undefined && imported.has(nameOf(callee))) built.push({ by, offset: start })
    },
  }).visit(program)
  return built
    .filter(({ by }) => by === null || usedLate.has(by))
    .map(({ offset }) => `${file}:${text.slice(0, offset).split('\n').length}`)
}

/** Returns the name of a called function, or the name `s` if the call is `s.object(…)`. */
function nameOf(callee: Expression): string {
  if (callee.type === 'MemberExpression') return nameOf(callee.object)
  return callee.type === 'Identifier' ? callee.name : ''
}

function importedBuilders(statement: Statement): readonly string[] {
  if (statement.type !== 'ImportDeclaration' || !statement.source.value.endsWith('/schema.ts')) return []
  return statement.specifiers.map(({ local }) => local.name).filter((name) => !unchecked.includes(name))
}

/** Returns the offsets and names of the functions that a statement at the top level declares, if it exports none. */
function localFunctions(statement: Statement): readonly (readonly [number, string])[] {
  if (statement.type === 'FunctionDeclaration' && statement.id !== null)
    return [[statement.start, statement.id.name]]
  if (statement.type !== 'VariableDeclaration') return []
  return statement.declarations.flatMap(({ id, init }) =>
    id.type === 'Identifier' && init !== null ? [[init.start, id.name] as const] : [],
  )
}
