import { editTogether } from './editors.mjs'

const [address] = process.argv.slice(2)
const body = JSON.stringify({ organizationId: 'acme', documentId: 'notes', editorId: 'main' })
const tokenOf = async (userId) => {
  const headers = { 'content-type': 'application/json', 'x-user': userId }
  const response = await fetch(`${address}/weft/token`, { method: 'POST', headers, body })
  return (await response.json()).token
}
const greet = () => fetch(`${address}/greet`, { method: 'POST' })
console.log(JSON.stringify(await editTogether({ url: `${address}/collab`, tokenOf, greet })))
