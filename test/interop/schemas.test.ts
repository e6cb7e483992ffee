// @vitest-environment dom
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { LineBreakNode, ParagraphNode, TabNode, TextNode } from 'lexical'
import { expect, test } from 'vitest'
import { checkSchema } from '../../src/core/content/schemas/check-schema.ts'
import { compileSchema } from '../../src/core/content/schemas/compiled-schema.ts'
import { blocknoteSpec } from '../../src/core/content/schemas/presets/blocknote.ts'
import { lexicalSchema, quillSchema } from '../../src/core/content/schemas/presets/presets.ts'
import { tiptapSpec } from '../../src/core/content/schemas/presets/tiptap.ts'
import type { SchemaSpec, SpecsByAttribute } from '../../src/core/content/schemas/schema-spec.ts'
import { schemaJson } from '../support/data/schema-json.ts'
import { missing } from '../support/needs.ts'
import { formatsOfQuill, schemaOfBlockNote, schemaOfTiptap } from './installed-schemas.ts'
import { proseMirrorSchema } from './prosemirror.ts'

const withoutTypes = (attributes: SpecsByAttribute | undefined): object | undefined =>
  attributes &&
  Object.fromEntries(
    Object.entries(attributes).map(([name, spec]) => [
      name,
      Object.hasOwn(spec, 'default') ? { default: spec.default } : {},
    ]),
  )

/** Returns a schema without the types of attributes, which editor libraries do not state. */
const untyped = ({ nodes, marks = {} }: SchemaSpec): SchemaSpec =>
  JSON.parse(
    JSON.stringify({
      nodes: Object.fromEntries(
        Object.entries(nodes).map(([name, node]) => [
          name,
          { ...node, attributes: withoutTypes(node.attributes) },
        ]),
      ),
      marks: Object.fromEntries(
        Object.entries(marks).map(([name, mark]) => [
          name,
          { ...mark, attributes: withoutTypes(mark.attributes) },
        ]),
      ),
    }),
  )

/** Marks and attributes of the preset whose packages are not installed here. */
const notInstalled = ['highlight', 'subscript', 'superscript']

test('[FMT-84] has the schema of the installed Tiptap in the preset', () => {
  const [blockImages, inlineImages] = [schemaOfTiptap(false), schemaOfTiptap(true)].map((schema) =>
    untyped(schemaJson(schema)),
  ) as [SchemaSpec, SchemaSpec]
  const preset = structuredClone(untyped(tiptapSpec)) as {
    nodes: Record<string, { group?: string; inline?: boolean; attributes?: Record<string, unknown> }>
    marks: Record<string, unknown>
  }
  for (const name of notInstalled) delete preset.marks[name]
  delete preset.nodes.heading?.attributes?.textAlign
  delete preset.nodes.paragraph?.attributes
  const groups = [blockImages.nodes.image?.group, inlineImages.nodes.image?.group].join(' ')
  expect(preset.nodes.image).toMatchObject({ group: groups, inline: true })
  expect({ ...preset, nodes: { ...preset.nodes, image: null } }).toEqual({
    ...blockImages,
    nodes: { ...blockImages.nodes, image: null },
  })
  expect(preset.nodes.image?.attributes).toEqual(inlineImages.nodes.image?.attributes)
})

test('[FMT-84] has the schema of the installed BlockNote in the preset', () => {
  // BlockNote states a default of undefined for a value that may be absent.
  expect(untyped(blocknoteSpec)).toEqual(untyped(schemaJson(schemaOfBlockNote())))
})

test('[FMT-84] has the formats and the embeds of the installed Quill in the preset', () => {
  const attributesOfEmbeds = ['alt', 'height', 'width']
  const preset = [...quillSchema.formats.keys(), ...quillSchema.embeds.keys()]
  expect(preset.filter((name) => !attributesOfEmbeds.includes(name)).sort()).toEqual(formatsOfQuill())
})

test('[FMT-84] has the nodes of the installed Lexical in the preset', () => {
  expect(lexicalSchema.texts).toContain(ParagraphNode.getType())
  const maps = [LineBreakNode, TabNode, TextNode].map((node) => node.getType())
  expect([...lexicalSchema.maps]).toEqual(expect.arrayContaining(maps))
})

const example = join(import.meta.dirname, '../../examples/tiptap')
const printSchema = join(example, 'print-schema.js')

test.skipIf(missing('examples/tiptap'))(
  '[FMT-162] prints the schema of Tiptap, so that the server can store it',
  () => {
    const printed: unknown = JSON.parse(execFileSync(process.execPath, [printSchema], { encoding: 'utf8' }))
    expect(compileSchema(checkSchema(printed))).toMatchObject({ contentKey: 'default', topNode: 'doc' })
  },
)

test.skipIf(missing('examples/tiptap'))(
  '[FMT-162] returns the schemas of Tiptap, ProseMirror and BlockNote, so that the server can store them',
  async () => {
    const { schemaJson: printedBy } = (await import(printSchema)) as {
      readonly schemaJson: (schema: object, contentKey: string) => unknown
    }
    for (const [schema, contentKey] of [
      [schemaOfTiptap(false), 'default'],
      [proseMirrorSchema, 'prosemirror'],
      [schemaOfBlockNote(), 'document-store'],
    ] as const) {
      const printed: unknown = JSON.parse(JSON.stringify(printedBy(schema, contentKey)))
      expect(printed).toEqual(JSON.parse(JSON.stringify({ ...schemaJson(schema), contentKey })))
      expect(compileSchema(checkSchema(printed))).toMatchObject({ contentKey })
    }
  },
)
