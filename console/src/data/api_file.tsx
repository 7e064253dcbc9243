import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { saveFile } from "../common/save_file.ts";
import { attempt } from "../common/toasts.tsx";
import { fetchFile } from "./api.ts";

// A browser sends no key for links and pictures: the page fetches their files.

interface FileLinkProps {
  address: string;
  /** The name of the saved file. */
  name: string;
  class?: string;
  title?: string;
  children: ComponentChildren;
}

/** A link that saves a file of the API. */
export function FileLink({ address, name, children, ...rest }: FileLinkProps) {
  const save = async (event: Event) => {
    event.preventDefault();
    await attempt(async () => saveFile(await fetchFile(address), name));
  };
  return (
    <a {...rest} href={address} download={name} onClick={(event) => void save(event)}>
      {children}
    </a>
  );
}

interface FilePictureProps {
  address: string;
  alt: string;
  class?: string;
  /** Called when the picture is there, or cannot be fetched. */
  onSettled?: () => void;
}

/** A picture of the API. */
export function FilePicture({ address, alt, onSettled, ...rest }: FilePictureProps) {
  const [url, setUrl] = useState("");
  useEffect(() => {
    const abort = new AbortController();
    let made = "";
    fetchFile(address, abort.signal).then(
      (file) => {
        if (abort.signal.aborted) return;
        made = URL.createObjectURL(file);
        setUrl(made);
      },
      () => {
        if (!abort.signal.aborted) onSettled?.();
      },
    );
    return () => {
      abort.abort();
      URL.revokeObjectURL(made);
    };
  }, [address]);
  return <img {...rest} src={url || undefined} alt={alt} onLoad={onSettled} onError={onSettled} />;
}

/** Show a file of the API in a new tab. */
export async function openFile(address: string): Promise<void> {
  const tab = open("about:blank"); // at once: a browser refuses tabs that are opened later
  const isOpen = await attempt(async () => {
    const url = URL.createObjectURL(await fetchFile(address));
    if (tab) {
      tab.opener = null;
      tab.location.replace(url);
    }
  });
  if (!isOpen) tab?.close();
}
