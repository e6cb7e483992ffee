export const languages = [
  ['curl', 'curl'],
  ['node', 'Node.js'],
  ['python', 'Python'],
] as const

export type Language = (typeof languages)[number][0]

/** Returns a text as a literal of JavaScript. */
export const jsLiteral = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

type Call = (base: string, path: string, data: object) => string

/** Code for REST calls by language. It reads the credentials from the environment variables KEY and TOKEN. */
export const restCallCode: Readonly<Record<Language, Call>> = {
  curl: (base, path, data) => `curl ${base}${path} \\
  -H "x-service-api-key: $KEY" -H "x-service-auth-token: $TOKEN" \\
  -H 'content-type: application/json' \\
  -d '${JSON.stringify({ data }).replaceAll("'", "'\\''")}'
`,
  node: (base, path, data) => `import { env } from 'node:process'

const response = await fetch(${jsLiteral(base + path)}, {
  method: 'POST',
  headers: {
    'content-type': 'application/json',
    'x-service-api-key': env.KEY,
    'x-service-auth-token': env.TOKEN,
  },
  body: JSON.stringify({
    data: ${indented(JSON.stringify(data, null, 2), '    ')},
  }),
})
const { result, error } = await response.json()
if (error) throw new Error(error.message)
console.log(result.data)
`,
  python: (base, path, data) => `import json
import os
import urllib.request

data = json.loads(r"""
${JSON.stringify(data, null, 2)}
""")
request = urllib.request.Request(
    ${JSON.stringify(base + path)},
    data=json.dumps({"data": data}).encode(),
    headers={
        "content-type": "application/json",
        "x-service-api-key": os.environ["KEY"],
        "x-service-auth-token": os.environ["TOKEN"],
    },
)
with urllib.request.urlopen(request) as response:
    print(json.load(response)["result"]["data"])
`,
}

const indented = (text: string, by: string): string => text.replaceAll('\n', `\n${by}`)
