import './style.css'
import './tiptap.css'

export const metadata = { title: 'Shared document', icons: 'data:,' }

export default function Layout({ children }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  )
}
