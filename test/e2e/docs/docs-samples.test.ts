import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clientPackages } from '../../../src/build/client-packages.ts'
import { builtFile } from '../../../src/core/base/package-file.ts'
import { chapters, index } from '../../../src/docs/chapters.ts'
import {
  isAlike,
  isRun,
  isText,
  jsonLinesOf,
  runSamples,
  type Sample,
  samplesOf,
} from '../../support/data/docs-samples.ts'
import { freePort, type ServerProcess, startProcess } from '../../support/servers/process.ts'
import { startTestServer } from '../../support/servers/server.ts'
import { giveOldData } from '../../support/stores/legacy-data.ts'
import { isEverythingAsked } from '../../support/time/full-run.ts'

const pages = [
  { name: 'the README', samples: samplesOf('README.md') },
  ...[index, ...chapters].map(({ name }) => ({ name, samples: samplesOf(`src/docs/${name}.md`) })),
]
const all = pages.map(({ name, samples }) => ({
  name,
  samples: samples.map((sample) => ({ ...sample, page: name })),
}))

/** Headings of the README whose commands do not run here, with the reason. */
const notRunUnder: Readonly<Record<string, string>> = {
  'Quick start': 'it installs; test/quickstart does so, as in the README',
}

const packed = 'it installs; test/package/tarball does so with the packed packages'

const walked = 'npm run test:walk follows this section from an empty folder (test/quickstart/tutorial.ts)'

const migrated = 'it takes Hocuspocus; test/e2e/docs/hocuspocus.test.ts has one'

const deployed = 'it changes a machine with systemd; test/e2e/docs/deployment.test.ts has its files'

const inKubernetes = 'there is no Kubernetes; test/deploy renders and checks the chart'

const inReact = 'a page runs it; test/package/react has these components and options'

const inPages = 'a page runs it; test/package/provider has these calls against servers and in a browser'

/** Programs in chapters that do not run, by their first words, with the reason. */
const notRun: Readonly<Record<string, string>> = {
  'claude mcp add --transport http weft https://weft.example.com/mcp --header "Authorization: Bearer $WEFT_AGENT_TOKEN"':
    'it takes a client of others; test/interop/mcp.test.ts has such clients',
  'npx weft-server init my-app --template tiptap-next': walked,
  'npm run dev': walked,
  '# A new Weft.':
    'it takes minutes; test/rest/project/doc-commands.test.ts has these calls with small loads',
  'WEFT_OTLP_ENDPOINT=http://collector:4318 node dist/main.js serve':
    'it takes a collector; test/interop/trace-collector.test.ts has one',
  'KEY=$(node -p "require(\'./weft-data/credentials.json\').apiKey")': walked,
  "const { weftSocket } = await import('http://localhost:8787/client/weft-socket.js')":
    'a page imports it; test/browser/transport.test.ts does so',
  'const editor = new Editor({':
    'a page runs it; test/e2e/access/suggester.test.ts has the event and the scope after a change of the role',
  'npm install weft-server': packed,
  'npm install @weft/client': packed,
  'npm install @weft/provider y-protocols yjs': packed,
  'npm install @weft/react react y-protocols yjs': packed,
  'npm install @weft/suggestions prosemirror-state prosemirror-view yjs': packed,
  "import { SuggestionStore, suggestionsPlugin } from '@weft/suggestions'":
    'a page runs it; test/package/suggestions has these calls',
  'npm ci && npm run build && npm pack': 'it packs; test/package/tarball does so',
  "import { readClientOptions } from 'weft-server'":
    'it takes credentials from files; test/package/read-client-options.test.ts does so',
  'const weft = await createServer({':
    'it names functions of the reader; test/package/server.test.ts has such ones',
  "import { DocumentProvider } from '@weft/provider'": inPages,
  "import { TokenDeniedError, DocumentProvider } from '@weft/provider'": inPages,
  "provider.on('saved', (saved) => {": inPages,
  "import { Room, usePresence, useRoom, useSaved, WeftProvider } from '@weft/react'": inReact,
  'function Comments() {': inReact,
  "import { decodeAnchor, encodeAnchor } from '@weft/react'": inReact,
  "import { SQLite } from '@hocuspocus/extension-sqlite'": migrated,
  'sqlite3 /srv/hocuspocus/hocuspocus.sqlite ".backup old.sqlite"': migrated,
  'npm install --no-save @hocuspocus/provider@4.8.0 yjs@13.6.33': migrated,
  'const opening = {': 'it takes a model of the reader; test/package/client-stream.test.ts has such calls',
  'npm ci && npm start': 'it installs; test/quickstart does so, as the README says',
  'npm ci && npm run build && npm prune --omit=dev --omit=optional': deployed,
  'VERSION=$(node dist/main.js --version)': deployed,
  'cp examples/deploy/weft.service /etc/systemd/system/': deployed,
  'test -e /etc/weft/backup-key || (umask 077; openssl rand -hex 32 > /etc/weft/backup-key)': deployed,
  'systemctl reload caddy': deployed,
  'grep ^WEFT_ADMIN_TOKEN= /etc/weft/weft.env | cut -d= -f2 > /etc/weft/admin-token': deployed,
  'cp examples/deploy/weft-backup.service examples/deploy/weft-backup.timer /etc/systemd/system/': deployed,
  'grep ^WEFT_METRICS_TOKEN= /etc/weft/weft.env | cut -d= -f2 > /etc/prometheus/weft-metrics-token': deployed,
  'promtool check config /etc/prometheus/prometheus.yml': deployed,
  'npm run test:soak -- kills power': 'it takes minutes, and is a test itself',
  'docker build -t weft .': 'there is no Docker daemon; npm run test:image builds the image',
  'docker buildx build --platform linux/amd64,linux/arm64 \\': 'there is no Docker daemon',
  'node dist/main.js init --env deploy': inKubernetes,
  'kubectl create secret generic weft --from-env-file=deploy/.env \\': inKubernetes,
  'kubectl create secret generic weft-metrics --from-literal=WEFT_METRICS_TOKEN="$(openssl rand -hex 32)"':
    inKubernetes,
  'openssl rand -hex 32 > backup.key   # keep a copy outside of the cluster': inKubernetes,
  'cryptsetup luksFormat --type luks2 /dev/nvme1n1': 'it takes a disk of its own, and root',
  'node dist/main.js backup ./data weft.backup                                   # the embedded store of a stopped server':
    'it takes a database; test/transfer/cluster-moves.test.ts moves there and back',
  'node dist/main.js backup ./data weft.backup':
    'it takes two servers; test/e2e/records/restore-documents.test.ts has them',
  'node dist/main.js backup http://localhost:8787 --to s3://acme-backups/weft --key-file backup.key --token-file admin-token --keep 7d,4w,12m':
    'it takes a bucket; test/interop/s3.test.ts and test/rest/storage have both',
  'WEFT_BACKUP_TO=s3://acme-backups/weft WEFT_BACKUP_KEY_FILE=backup.key node dist/main.js':
    'it takes a bucket; test/rest/storage/scheduled-backups.test.ts has such a server over a folder',
  'node dist/main.js restore ./weft-backups --key-file backup.key --to http://localhost:8787 --document acme/plan --dry-run':
    'it takes these documents; test/e2e/records/restore-documents.test.ts has them',
  'mv jwt-secret jwt-secret-previous; openssl rand -base64 48 > jwt-secret':
    'it starts a server; test/e2e/access/secret-rotation.test.ts does so',
  'export WEFT_ENGINE=postgres WEFT_POSTGRES_URL=postgres://weft:…@db.internal/weft WEFT_POSTGRES_SCHEMA=restored':
    'it takes a database; test/e2e/cluster/postgres-backup.test.ts has one',
  'weft call /v2/workspace/usage/get \'{"by":"organization","granularity":"month"}\' --workspace --all |':
    'it takes credentials from files; test/rest/project/call-command.test.ts does so',
  'export WEFT_ENGINE=postgres WEFT_POSTGRES_URL=postgres://weft@127.0.0.1/weft':
    'it takes a database; test/cluster-faults has such servers',
  'WEFT_DEBUG=document:acme/notes,client:ada node dist/main.js serve':
    'it serves until it is stopped; test/e2e/project/trace.test.ts has such servers',
  'node dist/main.js doc get acme/notes/main > notes.json':
    'it takes an expensive document; test/rest/project/doc-commands.test.ts has both commands',
}

const programLanguages = ['sh', 'js', 'jsx']

/** Languages of samples that are files for programs that are not installed here. */
const files = ['css', 'nginx', 'caddyfile', 'yaml', 'sql', 'ini', 'diff', 'text']

type PlacedSample = Sample & { readonly page: string }
const isUnder = ({ page, heading }: PlacedSample): boolean =>
  page === 'the README' && Object.hasOwn(notRunUnder, heading)
const isCarriedOut = (sample: PlacedSample): boolean => isRun(sample) && !isUnder(sample)

let folder: string
let weft: ServerProcess
let environment: Record<string, string>
let replacements: Record<string, string>
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weft-guide-'))
  // Samples import the client by its name.
  const client = join(folder, 'node_modules', clientPackages.client.name)
  mkdirSync(client, { recursive: true })
  copyFileSync(builtFile('package/client.js'), join(client, 'index.js'))
  writeFileSync(join(client, 'package.json'), '{ "type": "module", "exports": "./index.js" }')
  // A server that has run and stopped.
  await (await startTestServer({ engine: 'level', dataDir: join(folder, 'stopped'), ...credentials })).stop()
  writeFileSync(join(folder, 'stopped', 'credentials.json'), JSON.stringify(credentials))
  // Data of a reader who moves from another server.
  mkdirSync(join(folder, 'given'))
  giveOldData(join(folder, 'given'))
  const [port, receiver] = [await freePort(), await freePort()]
  const url = `http://127.0.0.1:${port}`
  weft = await startProcess(
    join(folder, 'server'),
    { WEFT_ADMIN_TOKEN: adminToken, WEFT_WEBHOOK_ALLOWLIST: 'localhost', WEFT_PUBLIC_URL: url },
    port,
  )
  // The document that the playground creates when a reader opens it.
  const welcome = { organizationId: 'playground', documentId: 'welcome', editorId: 'main' }
  await weft.post('/v2/crdt/add', { ...welcome, type: 'xml', data: '<paragraph>Welcome</paragraph>' })
  replacements = {
    'localhost:8787': `127.0.0.1:${port}`,
    'listen(3000': `listen(${receiver}`,
    'localhost:3000': `localhost:${receiver}`,
  }
  environment = {
    KEY: credentials.apiKey,
    TOKEN: credentials.authToken,
    WORKSPACE: credentials.workspaceId,
    WORKSPACE_TOKEN: credentials.workspaceAuthToken,
    ADMIN_TOKEN: adminToken,
    LIVEBLOCKS_SECRET_KEY: 'sk_example',
    TIPTAP_APP_ID: 'example',
    TIPTAP_API_SECRET: 'example-secret',
    USER_TOKEN: await weft.token(),
    Y_SWEET_TOKEN: await ySweetToken(),
  }
}, 60_000)
afterAll(async () => {
  await weft?.end('SIGTERM')
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
})

/** The credentials of `startProcess`. */
const credentials = {
  workspaceId: 'test',
  workspaceAuthToken: 'test-workspace-token',
  apiKey: 'test-key',
  authToken: 'test-auth-token-1234',
  jwtSecret: 'a secret of thirty-two bytes, or more',
}
const adminToken = 'an-admin-token-of-tests'

async function ySweetToken(): Promise<string> {
  const { data } = await weft.post('/v2/auth/generate_token', {
    userId: 'ada',
    userProperties: { name: 'Ada', email: 'ada@example.com' },
    format: 'y-sweet',
    document: { organizationId: 'acme', documentId: 'notes' },
  })
  return JSON.stringify(data)
}

/** These chapters take longest, because they start many processes in sequence. */
const long = ['migration', 'operations']

describe.concurrent('samples', () => {
  const carriedOut = all.filter(({ samples }) => samples.some(isCarriedOut))
  it.each(carriedOut.filter(({ name }) => isEverythingAsked || !long.includes(name)))(
    '[GUIDE-5] in $name, each sample runs and prints the documented result',
    async ({ name, samples }) => {
      const own = join(folder, name)
      mkdirSync(own)
      cpSync(join(folder, 'stopped'), join(own, 'data'), { recursive: true })
      cpSync(join(folder, 'given'), own, { recursive: true })
      const run = samples.filter(isCarriedOut)
      const printed = await runSamples(run, own, replacements, environment)
      run.forEach((sample, place) => {
        check(sample, printed[place] ?? '')
      })
    },
    120_000,
  )
})

/** Checks that only shown rejections occur, and that the output has the shown members. */
function check({ text, prints }: Sample, out: string): void {
  const answers = jsonLinesOf(out) as readonly object[]
  if (prints?.language === 'text') {
    if (!isText(prints.text, out)) throw differs(text, prints.text, out)
    return
  }
  const shown = prints === null ? null : (JSON.parse(prints.text) as object)
  if (shown !== null && !isAlike(shown, answers.at(-1))) throw differs(text, JSON.stringify(shown), out)
  const refused = answers.filter((answer) => Object.hasOwn(answer, 'error'))
  const isShown = shown !== null && Object.hasOwn(shown, 'error')
  expect({ text, refused }).toEqual({ text, refused: isShown ? [expect.anything()] : [] })
}

const differs = (text: string, shown: string, out: string): Error =>
  new Error(`${text}\nis shown as printing\n${shown}\nand prints\n${out}`)

describe('samples', () => {
  const others = all.flatMap(({ samples }) => samples).filter((sample) => !isCarriedOut(sample))

  it('[GUIDE-5] every sample of the documentation runs, or is listed with the reason why it does not run', () => {
    const programs = others.filter(({ language }) => programLanguages.includes(language))
    const [ofReadme, ofChapters] = [programs.filter(isUnder), programs.filter((each) => !isUnder(each))]
    expect([...new Set(ofReadme.map(({ heading }) => heading))].sort()).toEqual(
      Object.keys(notRunUnder).sort(),
    )
    const beginnings = ofChapters.map(({ text }) => text.split('\n')[0] as string)
    expect([...new Set(beginnings)].sort()).toEqual(Object.keys(notRun).sort())
    const languages = others
      .map(({ language }) => language)
      .filter((each) => ![...programLanguages, 'json'].includes(each))
    expect(languages.filter((each) => !files.includes(each))).toEqual([])
  })

  it('[GUIDE-5] the samples of the documentation have valid JSON and no unclosed brace', () => {
    for (const { language, text } of others) {
      if (language === 'json') expect(() => JSON.parse(text) as unknown).not.toThrow()
      const count = (brace: string): number => text.split(brace).length
      if (language !== 'text') expect({ text, open: count('{') - count('}') }).toEqual({ text, open: 0 })
      if (language === 'yaml') expect(text).not.toContain('\t')
    }
  })
})
