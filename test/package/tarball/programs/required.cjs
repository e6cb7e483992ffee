const { createServer, dataOf } = require('weft-server')
const { createClient } = require('weft-server/client')
const { DocumentProvider } = require('weft-server/provider')
const { useRoom } = require('weft-server/react')

async function main() {
  const weft = await createServer({ engine: 'memory', log: false })
  const { url } = await weft.listen({ port: 0, host: '127.0.0.1' })
  const { apiKey, authToken } = weft.credentials
  const client = createClient({ url, apiKey, authToken })
  dataOf(
    await client.organizations.add({ organizations: [{ organizationId: 'acme', organizationName: 'Acme' }] }),
  )
  const ids = dataOf(await weft.api.organizations.get()).map(({ id }) => id)
  await weft.close()
  console.log(JSON.stringify({ ids, provider: typeof DocumentProvider, react: typeof useRoom }))
}

void main()
