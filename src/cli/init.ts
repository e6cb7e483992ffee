import { existsSync } from 'node:fs'
import { mkdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { Command, Option } from 'commander'
import { StorageError } from '../capabilities/backups/storage/storage-error.ts'
import { errorMessage } from '../core/base/errors.ts'
import { environmentOf } from '../core/config/config.ts'
import { credentialsPath, type ServerCredentials } from '../core/directory/tenants/credentials-file.ts'
import { CredentialGenerator } from '../core/directory/tenants/workspace-service.ts'
import { configOf, credentialLines, printResult, programName } from './command-line/command-io.ts'
import {
  createProject,
  packedInClone,
  projectFiles,
  type TemplateName,
  templateNames,
} from './project-template.ts'

interface Flags {
  readonly env?: true
  readonly json?: true
  readonly template?: TemplateName
}

/** Paths of the created files, relative to the directory. */
const names = { config: 'weft.config.json', data: 'data', env: '.env' } as const

/** Options that operators often change first, with their defaults. */
const settings = {
  port: 8787,
  dataDir: './data',
  durability: 'disk',
  defaultAccess: 'restricted',
  logLevel: 'info',
} as const

/** Creates the command `weft init`. It never asks questions, and never overwrites a file. */
export function initCommand(): Command {
  return new Command('init')
    .description(
      'Create a configuration and a data directory with credentials, or an app from a template, and print the next steps.',
    )
    .argument('[directory]', 'Directory of the configuration or the app; created if missing.', '.')
    .option(
      '--env',
      'For a deployment: write the secrets to a file .env (mode 0600), without a data directory.',
    )
    .addOption(
      new Option('--template <name>', 'Create an app with an editor and this server from a template.')
        .choices(templateNames)
        .conflicts('env'),
    )
    .option('--json', 'Print JSON.')
    .action(async (directory: string, flags: Flags) => {
      if (flags.template !== undefined) return initProject(flags.template, directory, flags)
      const made = flags.env ? ([names.config, names.env] as const) : ([names.config, names.data] as const)
      const files = made.map((name) => join(directory, name))
      await expectNone(files, `name another directory, or start it: ${programName} serve`)
      await writing(directory, () => mkdir(directory, { recursive: true }))
      const credentials = flags.env ? await makeEnv(directory) : await makeStore(directory)
      await writeConfig(join(directory, names.config))
      const { jwtSecret: _, ...shown } = credentials
      if (flags.json) return printResult(JSON.stringify({ ok: true, directory, files, ...shown }))
      printResult(noticeOf(directory, files, credentials, flags))
    })
}

async function initProject(template: TemplateName, directory: string, { json }: Flags): Promise<void> {
  const files = (await projectFiles(template)).map((name) => join(directory, name))
  await expectNone(files, 'name another directory')
  await writing(directory, () => createProject(template, directory))
  if (json) return printResult(JSON.stringify({ ok: true, directory, template, files }))
  const missing = packedInClone !== null && !existsSync(packedInClone) ? packedInClone : null
  const pack = missing === null ? '' : `(cd ${asWord(dirname(missing))} && npm run build && npm pack)\n  `
  const steps = `npm install
  npm run dev         # the app, with changes of its files
  npm run build && npm start`
  printResult(`Created ${directory} from the template ${template}. Next:

  ${pack}${enterCommand(directory)}${steps}

README.md describes the files, and the steps before production.`)
}

/**
 * Checks that none of the files exists.
 * @throws StorageError if a file exists
 */
async function expectNone(files: readonly string[], hint: string): Promise<void> {
  for (const file of files)
    if ((await stat(file).catch(() => null)) !== null)
      throw new StorageError(`${file} already exists, and nothing was changed`, { hint })
}

const writeConfig = (path: string): Promise<void> =>
  writing(path, () => writeFile(path, `${JSON.stringify(settings, null, 2)}\n`, { flag: 'wx' }))

/**
 * Creates the store. Ignores other configuration such as the environment, because that configuration belongs
 * to other servers.
 */
async function makeStore(directory: string): Promise<ServerCredentials> {
  const { createDataDirectory } = await import('../capabilities/backups/storage/create-data-directory.ts')
  const { config } = configOf({})
  const none = {
    workspaceId: null,
    workspaceAuthToken: null,
    apiKey: null,
    authToken: null,
    addKey: null,
    jwtSecret: null,
    adminToken: null,
  }
  return createDataDirectory({ ...config, ...none, bootstrap: [], dataDir: join(directory, names.data) })
}

async function makeEnv(directory: string): Promise<ServerCredentials> {
  const generator = new CredentialGenerator()
  const credentials: ServerCredentials = {
    workspaceId: generator.id('ws'),
    workspaceAuthToken: generator.secret(),
    apiKey: generator.id('key'),
    authToken: generator.secret(),
    jwtSecret: generator.secret(),
    adminToken: generator.secret(),
  }
  const lines = Object.entries(credentials).map(
    ([key, value]) => `${environmentOf(key as keyof ServerCredentials)}=${value}\n`,
  )
  const path = join(directory, names.env)
  const content = `# Secrets of a Weft server. Keep them out of version control.\n${lines.join('')}`
  await writing(path, () => writeFile(path, content, { flag: 'wx', mode: 0o600 }))
  return credentials
}

async function writing(path: string, work: () => Promise<unknown>): Promise<void> {
  await work().catch((error: unknown) => {
    throw new StorageError(`${path} cannot be written: ${errorMessage(error)}`, {
      hint: 'name another directory',
    })
  })
}

function noticeOf(
  directory: string,
  files: readonly string[],
  credentials: ServerCredentials,
  { env }: Flags,
): string {
  const enter = enterCommand(directory)
  const kept = join(directory, env ? names.env : relative('', credentialsPath(names.data)))
  const serve = `${env ? 'set -a && . ./.env && set +a && ' : ''}${programName} serve`
  return `Created ${files.join(' and ')}.

${credentialLines(credentials)}

The secrets are in ${kept} (mode 0600); keep it out of version control. Next:

  ${enter}${programName} doctor     # check the configuration
  ${enter}${serve}
  ${enter}${programName} console    # in a second terminal: the link to the console and to a shared editor${
    env ? ' (with the same .env)' : ''
  }

${join(directory, names.config)} contains common options, with defaultAccess restricted. ${programName} config print shows all options.`
}

/** Returns the start of a command line that enters the directory; '' if it is the current one. */
function enterCommand(directory: string): string {
  const place = relative('', directory)
  return place === '' ? '' : `cd ${asWord(place)} && `
}

/** Quotes a path as one word of a command line if necessary. */
const asWord = (path: string): string =>
  /^[\w./][\w./-]*$/.test(path)
    ? path
    : `'${(path.startsWith('-') ? `./${path}` : path).replaceAll("'", "'\\''")}'`
