import type { ContentSchema } from '../any-schema.ts'
import { compileSchema } from '../compiled-schema.ts'
import { blocknoteSpec } from './blocknote.ts'
import { lexicalSchema } from './lexical.ts'
import { prosemirrorSpec } from './prosemirror.ts'
import { quillSchema } from './quill.ts'
import { slateSchema } from './slate.ts'
import { tiptapSpec } from './tiptap.ts'

/** Names of the schemas that need no definition. */
export const presetNames = ['tiptap', 'prosemirror', 'blocknote', 'quill', 'lexical', 'slate'] as const

type PresetName = (typeof presetNames)[number]

export const isPresetName = (name: string): name is PresetName => presetNames.some((known) => known === name)

const presets: Readonly<Record<PresetName, ContentSchema>> = {
  tiptap: compileSchema(tiptapSpec),
  prosemirror: compileSchema(prosemirrorSpec),
  blocknote: compileSchema(blocknoteSpec),
  quill: quillSchema,
  lexical: lexicalSchema,
  slate: slateSchema,
}

export const presetSchema = (name: PresetName): ContentSchema => presets[name]

/** Returns whether a preset has a node or mark with this name. */
export const isPresetWord = (name: string): boolean => words.has(name)

const words: ReadonlySet<string> = new Set(
  [tiptapSpec, prosemirrorSpec, blocknoteSpec].flatMap(({ nodes, marks }) => [
    ...Object.keys(nodes),
    ...Object.keys(marks ?? {}),
  ]),
)
