import type * as Y from 'yjs'
import { type Editor, eventually, syncedEditor } from '../support/clients/clients.ts'
import { Random } from '../support/data/random-doc.ts'
import { type Answer, dataOf } from '../support/servers/server.ts'
import type { TestCluster } from './support/cluster.ts'
import type { ClusterNode } from './support/node.ts'
import { digestOf, stateAt, stateInLog } from './support/read-document.ts'

/** Pauses of a user between keystrokes, in ms. */
const pauseMs = { least: 5, more: 20 }
/** Maximum number of calls for one request: a call is ABORTED if other nodes keep changing the document. */
const triesMax = 50

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

interface EditedContent {
  readonly type: 'text' | 'xml'
  readonly contentKey: string
  readonly data: (lines: readonly string[]) => string
  /** Returns all text of a document. */
  readonly read: (doc: Y.Doc) => string
  /** Returns the shared text in which a user types, and the index after the name of the user. */
  readonly lineOf: (doc: Y.Doc, user: string) => { readonly text: Y.Text | Y.XmlText; readonly index: number }
}

const inText = (text: Y.Text | Y.XmlText, user: string) => ({
  text,
  index: text.toString().indexOf(`${user}:`) + user.length + 1,
})

/** The kinds of content that are edited. */
export const contents: Readonly<Record<EditedContent['type'], EditedContent>> = {
  text: {
    type: 'text',
    contentKey: 'content',
    data: (lines) => lines.join('\n'),
    read: (doc) => doc.getText('content').toString(),
    lineOf: (doc, user) => inText(doc.getText('content'), user),
  },
  xml: {
    type: 'xml',
    contentKey: 'default',
    data: (lines) => lines.map((line) => `<paragraph>${line}</paragraph>`).join(''),
    read: (doc) => doc.getXmlFragment('default').toString(),
    lineOf(doc, user) {
      for (const paragraph of doc.getXmlFragment('default').toArray()) {
        const text = (paragraph as Y.XmlElement).get(0) as Y.XmlText
        if (text.toString().includes(`${user}:`)) return inText(text, user)
      }
      throw new Error(`there is no line of ${user}`)
    },
  },
}

const users = ['ada', 'bob'] as const

/** A user who types letters at the end of a line. */
export class TypingUser {
  typed = 0
  readonly #name: string
  readonly #editor: Editor
  readonly #content: EditedContent
  readonly #random: Random
  readonly #running: Promise<void>
  #isDone = false

  constructor(name: string, editor: Editor, content: EditedContent, random: Random) {
    this.#name = name
    this.#editor = editor
    this.#content = content
    this.#random = random
    this.#running = this.#run()
  }

  async finish(): Promise<void> {
    this.#isDone = true
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#isDone) {
      const { text, index } = this.#content.lineOf(this.#editor.doc, this.#name)
      text.insert(index + this.typed, 'x')
      this.typed += 1
      await sleep(pauseMs.least + this.#random.below(pauseMs.more))
    }
  }
}

const marksOf = (round: number): readonly [string, string] => [`(${round}.a)`, `(${round}.b)`]

const countIn = (text: string, part: string): number => text.split(part).length - 1

export interface EditCounts {
  readonly applied: number
  readonly rejected: number
  readonly typed: number
  readonly aborted: number
  readonly problems: readonly string[]
}

/**
 * Edits a document at each node in turn while a user types at two nodes. Every third request fails at its last
 * edit. Each request is repeated at another node with the same idempotency key.
 */
export async function editWhileTyping(
  cluster: TestCluster,
  type: EditedContent['type'],
  { rounds, seed }: { readonly rounds: number; readonly seed: number },
): Promise<EditCounts> {
  const content = contents[type]
  const random = new Random(seed)
  const documentId = `edits-${type}-${seed}`
  const address = { organizationId: 'acme', documentId, editorId: 'main' }
  const [first, ...others] = cluster.serving as [ClusterNode, ClusterNode, ClusterNode]
  const tasks = Array.from({ length: rounds }, (_, round) => `task ${round} is open.`)
  const lines = ['ada: start', ...tasks, 'bob: start', 'last line.']
  const { contentKey } = content
  dataOf(await first.post('/v2/crdt/add', { ...address, type, contentKey, data: content.data(lines) }))
  const token = await cluster.token('ada')
  const editors = await Promise.all(
    others.map((node) => syncedEditor(node.wsUrl, `acme/${documentId}/main`, token)),
  )
  const problems: string[] = []
  for (const { doc } of editors)
    doc.on('update', () => {
      const text = content.read(doc)
      for (let round = 0; round < rounds; round++) {
        const [a, b] = marksOf(round).map((mark) => countIn(text, mark))
        if (a !== b) problems.push(`a client has seen a part of request ${round}`)
      }
    })
  const typing = users.map((name, index) => new TypingUser(name, editors[index] as Editor, content, random))
  let [applied, rejected, aborted] = [0, 0, 0]
  const request = async (round: number): Promise<void> => {
    const [a, b] = marksOf(round)
    const isRejected = round % 3 === 2
    const edits = [
      { replace: { find: `task ${round} is open.`, with: `task ${round} is done.` } },
      { insert: { after: `task ${round} is done.`, content: a } },
      { insert: { before: 'last line.', content: b } },
      ...(isRejected ? [{ remove: { target: 'a line that does not exist' } }] : []),
    ]
    const key = { 'idempotency-key': `${documentId}-${round}` }
    const post = (node: ClusterNode): Promise<Answer> =>
      node.post('/v2/crdt/edit', { ...address, contentKey, edits, userId: 'agent' }, key)
    let answer = await post(cluster.next())
    for (let tries = 1; answer.status === 409 && tries < triesMax; tries++) {
      aborted += 1
      await sleep(random.below(50))
      answer = await post(cluster.next())
    }
    const repeated = await post(cluster.next())
    if (JSON.stringify(repeated.body) !== JSON.stringify(answer.body))
      problems.push(`request ${round} had two responses: ${JSON.stringify([answer.body, repeated.body])}`)
    const read = await cluster.next().post('/v2/crdt/get', { ...address, contentKey })
    const [{ data }] = dataOf(read) as [{ data: string }]
    const found = [a, b, `task ${round} is done.`].map((part) => countIn(data, part))
    const expected = isRejected ? 0 : 1
    if (answer.status !== (isRejected ? 400 : 200))
      problems.push(`request ${round}: ${answer.status} ${JSON.stringify(answer.body)}`)
    if (found.some((count) => count !== expected))
      problems.push(`another node has ${found.join(', ')} parts of request ${round}, not ${expected}`)
    if (isRejected) rejected += 1
    else applied += 1
  }
  // Two requests at a time, so that backends at different nodes compete.
  for (let round = 0; round < rounds; round += 2)
    await Promise.all([round, round + 1].filter((each) => each < rounds).map(request))
  for (const user of typing) await user.finish()
  const wanted = users.map((name, index) => `${name}:${'x'.repeat(typing[index]?.typed ?? 0)} start`)
  const isWhole = (doc: Y.Doc): boolean => wanted.every((line) => content.read(doc).includes(line))
  await eventually(
    () => editors.every(({ doc }) => isWhole(doc)),
    () => editors.map(({ doc }) => content.read(doc).slice(0, 2_000)),
  )
  const digests = new Set<string>()
  for (const node of cluster.serving) digests.add(digestOf(await stateAt(node, documentId, token)))
  const stored = await stateInLog(cluster, documentId)
  digests.add(digestOf(stored))
  if (digests.size > 1) problems.push('nodes and log differ')
  if (!isWhole(stored)) problems.push('the log lacks letters of users')
  for (const editor of editors) editor.close()
  const typed = typing.reduce((sum, user) => sum + user.typed, 0)
  return { applied, rejected, aborted, typed, problems }
}
