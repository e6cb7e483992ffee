import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { readRootAs } from '../../../../src/core/content/read-document.ts'
import { replaceContent } from '../../../../src/core/content/replace.ts'
import { Random } from '../../../support/data/random-doc.ts'
import { nextRevision, randomReadme } from '../../../support/data/random-readme.ts'
import { seed } from '../../../support/data/seed.ts'
import { times } from '../../../support/time/full-run.ts'
import { loaded, updatesOf } from '../support.ts'

const contentKey = 'default'
const write = (doc: Y.Doc, type: string, data: unknown): number =>
  updatesOf(doc, () => replaceContent(doc, { type, contentKey, data })).reduce(
    (sum, { length }) => sum + length,
    0,
  )
const read = (doc: Y.Doc, type: string): unknown => readRootAs(doc, type, contentKey).data

function xmlOf(markdown: string): unknown {
  const doc = new Y.Doc()
  write(doc, 'markdown', markdown)
  return read(doc, 'xml')
}

const [readmes, histories, revisions] = times([100, 3, 20], [1_000, 20, 40])

describe(`READMEs (seed ${seed})`, () => {
  it('[FMT-171] writes nothing when a README that was read is written back, and has the same blocks in another document', () => {
    const random = new Random(seed)
    for (let count = 0; count < readmes; count += 1) {
      const text = randomReadme(random).join('\n\n')
      const doc = new Y.Doc()
      write(doc, 'markdown', text)
      const markdown = read(loaded(doc), 'markdown')
      expect(write(doc, 'markdown', markdown), text).toBe(0)
      expect(xmlOf(String(markdown)), text).toEqual(read(doc, 'xml'))
    }
  })

  it('[FMT-171] keeps Unicode spaces at the ends of the cells of a table', () => {
    for (const cell of ['b&nbsp;', '&nbsp; b&#8195; &nbsp;', '[x](/y)&nbsp;', '**x**&#12288;', '&nbsp;']) {
      const doc = new Y.Doc()
      write(doc, 'markdown', `| a |\n| - |\n| ${cell} |`)
      expect(xmlOf(String(read(doc, 'markdown'))), cell).toBe(read(doc, 'xml'))
    }
  })

  it('[FMT-171] [FMT-10] takes at most 1.1 times the bytes of XML when a README has many revisions', () => {
    const random = new Random(seed)
    for (let count = 0; count < histories; count += 1) {
      const [markdown, xml] = [new Y.Doc(), new Y.Doc()]
      let readme = randomReadme(random)
      let [markdownBytes, xmlBytes] = [0, 0]
      for (let revision = 0; revision < revisions; revision += 1) {
        const text = readme.join('\n\n')
        markdownBytes += write(markdown, 'markdown', text)
        xmlBytes += write(xml, 'xml', xmlOf(text))
        expect(read(markdown, 'xml')).toEqual(xmlOf(text))
        readme = nextRevision(readme, random)
      }
      expect(markdownBytes, `history ${count}`).toBeLessThanOrEqual(1.1 * xmlBytes)
    }
  })
})
