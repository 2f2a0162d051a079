class Aw < Formula
  desc "Two coding agents debate a plan until it holds"
  homepage "@BASE_URL@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

@PLATFORMS@

  def install
    bin.install "bin/aw"
    man1.install Dir["share/man/man1/*"]
    bash_completion.install "share/bash-completion/completions/aw"
    zsh_completion.install "share/zsh/site-functions/_aw"
    fish_completion.install "share/fish/vendor_completions.d/aw.fish"
    doc.install Dir["share/doc/aw-debate/*"]
  end

  service do
    run [opt_bin/"aw", "serve"]
    keep_alive true
  end

  test do
    assert_match "Both agents agree", shell_output("#{bin}/aw demo")
  end
end
