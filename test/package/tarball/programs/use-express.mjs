import { editTogether } from './editors.mjs'

const [address] = process.argv.slice(2)
const tokenOf = async (userId) => (await (await fetch(`${address}/token/${userId}`)).json()).token
const greet = () => fetch(`${address}/greet`, { method: 'POST' })
console.log(JSON.stringify(await editTogether({ url: `${address}/collab`, tokenOf, greet })))
