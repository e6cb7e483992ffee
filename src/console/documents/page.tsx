import type { PageProps } from '../route.ts'

export default function Page(_props: PageProps) {
  return <h1>Documents</h1>
}
