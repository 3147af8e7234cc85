// Fetch sends one request to the API server and prints the answer's body.
//
// The Rust side waits for readiness with it, so that the commands of the
// project need no TLS library of their own.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

func main() {
	ca := flag.String("ca", "", "file with the PEM certificates to trust")
	token := flag.String("token", "", "file with the bearer token")
	timeout := flag.Duration("timeout", 5*time.Second, "limit for the whole request")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: fetch -ca FILE -token FILE [-timeout 5s] URL")
		os.Exit(2)
	}
	if err := fetch(flag.Arg(0), *ca, *token, *timeout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func fetch(url, ca, tokenFile string, timeout time.Duration) error {
	pem, err := os.ReadFile(ca)
	if err != nil {
		return err
	}
	token, err := os.ReadFile(tokenFile)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return fmt.Errorf("%s holds no PEM certificate", ca)
	}
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	// A proxy of the environment is for the outside; the API server is on loopback.
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	client := &http.Client{Timeout: timeout, Transport: transport}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10))
		return fmt.Errorf("%s answered %s: %s", url, response.Status, strings.TrimSpace(string(body)))
	}
	_, err = io.Copy(os.Stdout, response.Body)
	return err
}
