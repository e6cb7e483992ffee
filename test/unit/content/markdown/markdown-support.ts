import type * as Y from 'yjs'
import { checkFormatted, type TextOfBlocks } from '../../../../src/core/content/blocks/block-format.ts'
import { readXmlBlocks, replaceXmlBlocks } from '../../../../src/core/content/blocks/xml-blocks.ts'
import { markdownFormat } from '../../../../src/core/content/markdown/markdown.ts'
import type { ReplacementResult } from '../../../../src/core/content/replacement-result.ts'

export const checkMarkdown = (text: string): TextOfBlocks => checkFormatted(markdownFormat, text)

export const readMarkdown = (doc: Y.Doc, key: string): string => readXmlBlocks(doc, key, markdownFormat)

export const replaceMarkdown = (doc: Y.Doc, key: string, target: TextOfBlocks): ReplacementResult =>
  replaceXmlBlocks(doc, key, target)
