import { withoutTrailing } from '../../core/base/text.ts'
import { localUrlAt } from '../../core/config/public-url.ts'
import { readConfig } from '../../core/config/read-config.ts'
import { restCredentialsOf } from '../../core/directory/tenants/credentials-file.ts'

/**
 * Returns the options of `createClient` for a running server, from the same sources as the commands of Weft: the
 * environment (`WEFT_URL`, `WEFT_API_KEY`, `WEFT_AUTH_TOKEN` and the options of the server), `weft.config.json`, and
 * `credentials.json` in the data directory. Without `WEFT_URL`, the server is the one on this machine.
 * @param options `dataDir`: path of the data directory of the server. Default: `WEFT_DATA_DIR`, else `./data`.
 * @throws an error with a message for the operator if there are no credentials, or if an option is invalid
 */
export async function readClientOptions({ dataDir }: { readonly dataDir?: string } = {}): Promise<{
  readonly url: string
  readonly apiKey: string
  readonly authToken: string
}> {
  const { env: environment } = process
  const { config } = readConfig({ flags: { dataDir }, environment, file: environment.WEFT_CONFIG ?? null })
  const url = environment.WEFT_URL ?? config.publicUrl ?? localUrlAt(config.host, config.port)
  return { url: withoutTrailing('/', url), ...(await restCredentialsOf(config)) }
}
