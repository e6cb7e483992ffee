import type { Mirror } from './mirror.ts'
import type { MirroredDocument, MirrorStatus } from './mirrored-document.ts'

const lineEveryMs = 1000

/** Prints the progress of a mirror. Results go to standard output. Status and errors go to standard error. */
export class MirrorReport {
  readonly #how: 'text' | 'json'
  #timer: NodeJS.Timeout | null = null

  constructor(how: 'text' | 'json') {
    this.#how = how
  }

  /** Starts to show a status line. Does nothing if the output is not a terminal. */
  start(mirror: Mirror): void {
    if (this.#how === 'json' || !process.stderr.isTTY) return
    let before = 0
    this.#timer = setInterval(() => {
      const { documents, inStep, behind, failed } = mirror.count()
      const rate = mirror.updates - before
      before = mirror.updates
      process.stderr.write(
        `\r\u001b[K${inStep} of ${documents} in step, ${behind} behind, ${failed} failed, ${rate} updates/s`,
      )
    }, lineEveryMs)
  }

  changed({ name, standing }: MirroredDocument): void {
    if (this.#how === 'json') return void printResult(asJson(name, standing))
    if (standing.kind !== 'failed') return
    const line = `import: ${asText(name, standing)}; trying again`
    process.stderr.write(process.stderr.isTTY ? `\r\u001b[K${line}\n` : `${line}\n`)
  }

  /** Prints one line with the status of each document. */
  documents({ documents }: Mirror): void {
    const line = this.#how === 'json' ? asJson : asText
    for (const { name, standing } of documents) printResult(line(name, standing))
  }

  /** Removes the status line and prints the summary. Returns whether all documents are in sync. */
  end(mirror: Mirror): boolean {
    if (this.#timer !== null) {
      clearInterval(this.#timer)
      process.stderr.write('\r\u001b[K')
    }
    const count = mirror.count()
    const ok = count.inStep === count.documents
    if (this.#how === 'text') this.documents(mirror)
    printResult(
      this.#how === 'json'
        ? JSON.stringify({ ok, ...count, updates: mirror.updates })
        : `${count.inStep} of ${count.documents} documents in step (${count.empty} of them empty), ` +
            `${mirror.updates} updates passed on`,
    )
    return ok
  }
}

const printResult = (line: string): boolean => process.stdout.write(`${line}\n`)

const asJson = (name: string, standing: MirrorStatus): string => JSON.stringify({ name, ...standing })

const asText = (name: string, standing: MirrorStatus): string =>
  `${JSON.stringify(name)} ${inWords(standing)}`

function inWords(standing: MirrorStatus): string {
  if (standing.kind === 'failed') return `failed: ${standing.reason}`
  if (standing.kind === 'behind') return `behind by ${standing.by}`
  if (standing.kind === 'coming') return 'not in step yet'
  return standing.isEmpty ? 'in step: the old server does not have a document of that name' : 'in step'
}
