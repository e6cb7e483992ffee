import { text } from 'node:stream/consumers'
import { Command } from 'commander'
import { callOnline, pagesOnline } from '../capabilities/transfer/documents/rest-client.ts'
import { isJsonObject } from '../core/base/json.ts'
import * as s from '../core/base/schema.ts'
import { ConfigError } from '../core/config/read-config.ts'
import { printResult, printWithBackpressure } from './command-line/command-io.ts'
import { requireServer, requireWorkspace, type ServerFlags, withServerFlags } from './location/location.ts'

interface Flags extends ServerFlags {
  /** True: the configured workspace. */
  readonly workspace?: string | true
  readonly all?: true
  readonly json?: true
}

/** Creates the command `weft call`, which prints the data of the response as JSON. */
export const callCommand = (): Command =>
  withServerFlags(new Command('call'))
    .description('Call an operation of the REST API of a running server, and print the data of its response.')
    .argument('<operation>', 'Path of the operation, such as /v2/crdt/versions/list.')
    .argument('[data]', 'Member `data` of the request, as JSON; - is standard input.', '{}')
    .option(
      '--workspace [id]',
      'Use the token of a workspace instead of an API key (default: WEFT_WORKSPACE_ID, else that of the data directory).',
    )
    .option('--all', 'Read all pages of a listing, and print a line of JSON for each page.')
    .option('--json', 'Print one line of JSON.')
    .action(async (path: string, given: string, { workspace, all, json, ...flags }: Flags) => {
      const data = parseData(given === '-' ? await text(process.stdin) : given)
      const server = await (workspace === undefined
        ? requireServer(flags)
        : requireWorkspace({ ...flags, ...(workspace !== true && { workspace }) }))
      if (all) {
        for await (const page of pagesOnline(server, path, data, s.unknown))
          await printWithBackpressure(JSON.stringify(page))
        return
      }
      const response = await callOnline(server, path, data, s.unknown)
      // The data of an operation without data is absent.
      printResult(JSON.stringify(response.data ?? null, null, json ? 0 : 2))
      if (response.pageToken !== undefined) process.stderr.write('there are more pages: --all reads them\n')
    })

/** @throws ConfigError */
function parseData(text: string): object {
  try {
    const data: unknown = JSON.parse(text)
    if (isJsonObject(data)) return data
  } catch {
    // The error below has the reason and the remedy.
  }
  throw new ConfigError(`the data is not a JSON object: ${JSON.stringify(text.slice(0, 100))}`, {
    hint: `quote it for the shell, such as '{"organizationId":"acme"}'`,
  })
}
