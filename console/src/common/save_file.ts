/** How long a browser may take to begin a download. */
const DOWNLOAD_MS = 10_000;

/** Let the browser download a file that the page has made. */
export function saveFile(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), DOWNLOAD_MS);
}
