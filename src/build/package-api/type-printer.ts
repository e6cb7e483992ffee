import { isRequired, type ObjectSchema, type Schema } from '../../core/base/schema.ts'
import { capitalize } from './operation-names.ts'

/** Longest line of a comment in the generated code, in characters. */
const lineMax = 108

/** Prints TypeScript declarations for schemas. Each object gets an interface with a name of its own. */
export class TypePrinter {
  readonly #declarations = new Map<string, string>()
  readonly #shared: ReadonlyMap<string, string>

  /** @param shared schemas that many operations use, by their names */
  constructor(shared: Readonly<Record<string, ObjectSchema>>) {
    this.#shared = new Map(Object.entries(shared).map(([name, schema]) => [keyOf(schema), name]))
    for (const [name, schema] of Object.entries(shared)) this.#declareObject(name, schema)
  }

  /** All declarations so far, in the order in which they were needed. */
  get text(): string {
    return [...this.#declarations.values()].join('\n\n')
  }

  /** Declares a type with this name for a schema. */
  declare(name: string, schema: Schema, about: string): void {
    const described = schema.description === undefined ? { ...schema, description: about } : schema
    const type = this.#typeOf(described, name)
    if (type !== name) this.add(name, `${comment(about)}export type ${name} = ${type}`)
  }

  add(name: string, declaration: string): void {
    if (this.#declarations.has(name)) throw new TypeError(`two types have the name ${name}`)
    this.#declarations.set(name, declaration)
  }

  /** Returns the type of a schema. Declares the objects in it, with names that start with `name`. */
  #typeOf(schema: Schema, name: string): string {
    if (schema.type === undefined)
      return schema.anyOf === undefined
        ? 'unknown'
        : [
            ...new Set(
              schema.anyOf.map((each, index) => this.#typeOf(each, optionName(schema.anyOf, index, name))),
            ),
          ].join(' | ')
    switch (schema.type) {
      case 'string':
        return schema.enum === undefined ? 'string' : schema.enum.map((value) => `'${value}'`).join(' | ')
      case 'integer':
      case 'number':
        return 'number'
      case 'array': {
        const item = this.#typeOf(schema.items, `${name}Item`)
        return `readonly ${item.includes('|') ? `(${item})` : item}[]`
      }
      case 'object':
        if (schema.properties === undefined)
          return `{ readonly [id: string]: ${this.#typeOf(schema.additionalProperties, `${name}Entry`)} }`
        if (Object.keys(schema.properties).length === 0)
          return schema.additionalProperties === undefined
            ? 'Record<string, never>'
            : '{ readonly [name: string]: unknown }'
        return this.#shared.get(keyOf(schema)) ?? this.#declareObject(name, schema)
      default:
        return schema.type
    }
  }

  #declareObject(name: string, schema: ObjectSchema): string {
    // Reserves the place before the declarations of the members.
    this.add(name, '')
    const members = Object.entries(schema.properties).map(([member, each]) => {
      const type = this.#typeOf(each, name + capitalize(member))
      const isNeeded = isRequired(schema, member)
      return `${comment(aboutOf(each))}readonly ${/^\w+$/.test(member) ? member : `'${member}'`}${isNeeded ? '' : '?'}: ${type}${isNeeded || type === 'unknown' ? '' : ' | undefined'}`
    })
    // Values of an interface do not fit an index signature, so callers could not send users and documents of their types.
    const hasIndex = schema.additionalProperties !== undefined && schema['x-reserved'] === undefined
    if (hasIndex) members.push('readonly [name: string]: unknown')
    const about = schema.description ?? ''
    this.#declarations.set(name, `${comment(about)}export interface ${name} {\n${members.join('\n')}\n}`)
    return name
  }
}

/** Returns a name for an alternative of a union. Only objects need different names. */
function optionName(alternatives: readonly Schema[], index: number, name: string): string {
  const before = alternatives
    .slice(0, index)
    .filter(({ type }) => type === 'object' || type === 'array').length
  return before === 0 ? name : `${name}${before + 1}`
}

/** Returns a text that is the same for schemas of the same values. */
const keyOf = (schema: Schema): string =>
  JSON.stringify({ ...schema, description: undefined }, (name, value: unknown) =>
    name === 'examples' ? undefined : value,
  )

/** Returns the description of a member with its limits. */
function aboutOf(schema: Schema): string {
  const facts: string[] = []
  if (schema.type === 'string') {
    if (schema.format === 'id') facts.push('Id: at most 512 bytes.')
    if (schema.format === 'byte') facts.push('Base64.')
    if (schema.format === 'date-time') facts.push('Time as ISO 8601.')
    if (schema.maxLength !== undefined) facts.push(`At most ${plural(schema.maxLength, 'character')}.`)
  }
  if (schema.type === 'array') {
    if (schema.minItems !== undefined && schema.minItems > 0)
      facts.push(`At least ${plural(schema.minItems, 'item')}.`)
    if (schema.maxItems !== undefined) facts.push(`At most ${plural(schema.maxItems, 'item')}.`)
  }
  if (schema.type === 'integer' || schema.type === 'number') {
    if (schema.minimum !== undefined) facts.push(`Minimum: ${schema.minimum}.`)
    if (schema.maximum !== undefined) facts.push(`Maximum: ${schema.maximum}.`)
  }
  if (schema.type !== undefined && 'default' in schema)
    facts.push(`Default: \`${JSON.stringify(schema.default)}\`.`)
  return [schema.description ?? '', ...facts].filter((text) => text !== '').join(' ')
}

const plural = (count: number, noun: string): string =>
  `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`

/** Returns a comment with a line break at its end; no text for an empty comment. */
export function comment(...paragraphs: readonly string[]): string {
  const shown = paragraphs.filter((text) => text !== '').map((text) => text.replaceAll('*/', '* /'))
  if (shown.length === 0) return ''
  const lines = shown.flatMap((text, index) => [...(index === 0 ? [] : ['']), ...wrap(text)])
  if (lines.length === 1) return `/** ${lines[0]} */\n`
  return `/**\n${lines.map((line) => ` *${line === '' ? '' : ' '}${line}\n`).join('')} */\n`
}

function wrap(text: string): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/)) {
    if (line !== '' && line.length + word.length + 1 > lineMax) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
