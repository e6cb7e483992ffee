import type * as Y from 'yjs'
import { textIn } from '../../src/core/content/edit/targets/flow-view.ts'
import { readXmlView } from '../../src/core/content/edit/targets/xml-view.ts'
import { readRootAs } from '../../src/core/content/read-document.ts'
import { type Random, seededRandom } from '../support/random.ts'
import { type BenchServer, done } from '../support/server.ts'
import { type Caret, CaretChoice, movedCarets } from './carets.ts'
import { EditorClient, settled, until } from './editor-client.ts'
import { contentKey } from './flat-text.ts'
import { lostCharacters, withoutClients } from './human-text.ts'
import type { Keystroke } from './keystrokes.ts'
import { type AgentTask, type BlockIndex, readDocument } from './task.ts'
import { Typist } from './typist.ts'
import { type DocumentAddress, ScriptedAgent, type Way, WriteError } from './ways.ts'

const typistCount = 3
/** Keystrokes of each typist while the agent works, while its change is on the way, and afterwards. */
export const keystrokesMade = { before: 40, during: 10, after: 10 } as const
/** Carets in or next to the changed texts, and in the whole document, without those of the typists. */
const caretCount = { near: 20, anywhere: 20 } as const
const attemptsMax = 3
const organizationId = 'agents'

/** The result of one task in one way. */
export interface Outcome {
  readonly task: AgentTask
  readonly way: Way
  /** Why the task failed; null if it succeeded. */
  readonly problem: string | null
  readonly read: number
  readonly sent: number
  readonly bytes: number
  readonly retries: number
  /** Characters that typists have typed and not deleted, and those of them that the document has lost. */
  readonly typed: number
  readonly lost: number
  readonly carets: number
  readonly moved: number
}

export interface TaskRun {
  readonly server: BenchServer
  readonly tokens: readonly string[]
  readonly stretches: readonly (readonly Keystroke[])[]
  readonly seed: number
}

/** Carries out a task in several ways, each in a new document, with the same carets and keystrokes. */
export async function runTask(run: TaskRun, task: AgentTask, ways: readonly Way[]): Promise<Outcome[]> {
  const { server } = run
  const name = task.name.replaceAll(' ', '-')
  const original = readDocument(task.document)
  const before = await createDocument(server, `${name}-before`, original)
  const expected = await createDocument(
    server,
    `${name}-after`,
    task.change(await readMarkdown(server, before)),
  )
  const outcomes: Outcome[] = []
  for (const [index, way] of ways.entries()) {
    const address = await createDocument(server, `${name}-${index}`, original)
    outcomes.push(await runWay(run, { task, way, address, expected }))
  }
  return outcomes
}

/** Creates a document as Tiptap has it. */
async function createDocument(
  server: BenchServer,
  documentId: string,
  markdown: string,
): Promise<DocumentAddress> {
  const address = { organizationId, documentId, editorId: 'main', contentKey }
  const content = { type: 'markdown', schema: 'tiptap', data: markdown, upsert: true }
  await done(server, '/v2/crdt/update', { ...address, ...content })
  return address
}

async function readMarkdown(server: BenchServer, address: DocumentAddress): Promise<string> {
  const { body } = await server.post('/v2/crdt/get', { ...address, format: 'markdown' })
  const { data } = body.result as { readonly data: readonly [{ readonly data: string }] }
  return data[0].data
}

interface WayRun {
  readonly task: AgentTask
  readonly way: Way
  readonly address: DocumentAddress
  readonly expected: DocumentAddress
}

async function runWay(run: TaskRun, { task, way, address, expected }: WayRun): Promise<Outcome> {
  const random = seededRandom(run.seed)
  const agent = new ScriptedAgent(run.server, address, task, way)
  await agent.comment()
  const open = (at: DocumentAddress, index: number): EditorClient => {
    const path = `${at.organizationId}/${at.documentId}/${at.editorId}`
    return new EditorClient(run.server.syncUrl, path, run.tokens[index] as string, index + 1)
  }
  const expectedClient = open(expected, typistCount)
  const clients = Array.from({ length: typistCount + 1 }, (_, index) => open(address, index))
  const all = [...clients, expectedClient]
  await until(() => all.every(({ isSynced }) => isSynced), 'sync')
  const typing = clients.slice(0, typistCount)
  const observer = clients[typistCount] as EditorClient
  const expectedXml = xmlOf(expectedClient.editor)

  const choice = new CaretChoice(observer.editor, expectedClient.editor, random)
  const typistCarets = caretsOfTypists(choice)
  const typists = typistCarets.map(
    ({ position }, index) =>
      new Typist((clients[index] as EditorClient).editor, position, stretchFor(run, random)),
  )
  const carets = [
    ...typistCarets,
    ...Array.from({ length: caretCount.near }, () => choice.near()),
    ...Array.from({ length: caretCount.anywhere }, () => choice.anywhere()),
  ]

  let reading = await agent.readContent()
  let block = blockIndexIn(observer.editor)
  const type = (count: number): void => {
    for (const typist of typists) typist.type(count)
  }
  type(keystrokesMade.before)
  await settled(clients)
  for (const client of typing) client.delayUpdates()
  type(keystrokesMade.during)
  const { arrived } = observer
  let [problem, retries]: [string | null, number] = [null, 0]
  for (let attempt = 1; ; attempt += 1) {
    try {
      const isChanged = await agent.write(reading, expectedXml, block)
      if (isChanged) await until(() => observer.arrived > arrived, 'the update of the agent')
      await agent.answer()
      break
    } catch (error) {
      if (!(error instanceof WriteError)) throw error
      problem = error.message
      if (!['FAILED_PRECONDITION', 'ABORTED'].includes(error.status) || attempt === attemptsMax) break
      retries += 1
      reading = await agent.readContent()
      block = blockIndexIn(observer.editor)
    }
  }
  for (const client of typing) client.releaseUpdates()
  await settled(clients)
  type(keystrokesMade.after)
  await settled(clients)

  const { editor } = observer
  const ids = new Set(typists.map((typist) => typist.editor.clientID))
  const rest = withoutClients(editor, ids, expectedClient.editor)
  const outcome: Outcome = {
    task,
    way,
    problem: problem ?? differenceOf(xmlOf(rest), expectedXml) ?? (await missingAnswer(agent, task)),
    read: agent.read,
    sent: agent.sent,
    bytes: agent.bytes,
    retries,
    typed: typists.reduce((sum, { clocks }) => sum + clocks.length, 0),
    lost: typists.reduce((sum, typist) => sum + lostCharacters(editor, typist), 0),
    carets: carets.length,
    moved: movedCarets(rest, carets).length,
  }
  for (const client of all) client.close()
  return outcome
}

/** Returns different carets for the typists. All but one are near the change. */
function caretsOfTypists(choice: CaretChoice): readonly Caret[] {
  const carets: Caret[] = [choice.anywhere()]
  while (carets.length < typistCount) carets.push(choice.near())
  return carets
}

const stretchFor = ({ stretches }: TaskRun, random: Random): readonly Keystroke[] =>
  stretches[random(stretches.length)] as readonly Keystroke[]

/** Returns the indexes of the blocks of a document as it is now. */
function blockIndexIn(doc: Y.Doc): BlockIndex {
  const view = readXmlView(doc.getXmlFragment(contentKey))
  const texts = view.blocks.map((block) => textIn(view, block))
  return (start, occurrence = 1) => {
    const found = texts.flatMap((text, index) => (text.startsWith(start) ? [index] : []))[occurrence - 1]
    if (found === undefined) throw new Error(`no block starts with ${start}`)
    return found
  }
}

const xmlOf = (doc: Y.Doc): string => String(readRootAs(doc, 'xml', contentKey).data)

async function missingAnswer(agent: ScriptedAgent, { comment }: AgentTask): Promise<string | null> {
  if (comment === undefined || (await agent.comments()).includes(comment.answer)) return null
  return 'the answer to the comment is missing'
}

/** Returns where the content differs from the expected one; null if it is equal. */
function differenceOf(actual: string, expected: string): string | null {
  if (actual === expected) return null
  let at = 0
  while (actual[at] === expected[at]) at += 1
  const around = (text: string): string => text.slice(Math.max(0, at - 40), at + 80)
  return `the result has ${around(actual)} instead of ${around(expected)}`
}
